#include "query/reading_memory.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "base/byte_size.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/paths.h"

namespace octavo {
namespace {

// Measured with evaluate, query and export on a graph of 800 nodes (7 to 21 MB resident, of which 4 to 15 MB are not
// shared with other programs), plus reserve for the allocator.
constexpr std::uint64_t kProgramBytes = std::uint64_t{16} << 20;

std::uint64_t FileBytes(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

}  // namespace

std::uint64_t OpenBytes(const TrainedRun& run) {
  const Graph& graph = *run.graph;
  constexpr std::uint64_t kNameBytes = 48;  // a string with its count, in addition to its characters
  std::uint64_t bytes = kProgramBytes + 2 * run.relations.size() * sizeof(float);  // twice: during loading
  bytes += graph.relation_count() * kNameBytes + 2 * FileBytes(graph.paths().Relations());
  if (graph.labels() != nullptr) {
    bytes += graph.relation_count() * kNameBytes + 2 * FileBytes(graph.paths().RelationLabels());
  }
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    bytes += graph.Edges(split).block_count() * sizeof(BlockRecord);
  }
  return bytes;
}

std::uint64_t StreamedBytes(const TrainedRun& run) {
  const GraphPaths& paths = run.graph->paths();
  std::uint64_t bytes = run.embeddings.rows() * run.embeddings.columns() * ElementBytes(run.embeddings.element());
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) bytes += FileBytes(paths.Cells(split));
  if (run.graph->labels() != nullptr) {
    for (const std::string& name : GraphPaths::LabelFileNames()) bytes += FileBytes(paths.folder() / name);
  }
  return bytes + FileBytes(paths.NodeNames()) + FileBytes(paths.NodeOffsets()) + FileBytes(paths.NodeHashes());
}

absl::StatusOr<ReadingMemory> ShareReadingMemory(std::uint64_t limit, std::string_view verb, TrainedRun& run,
                                                 std::uint64_t least_bytes) {
  const std::uint64_t open = OpenBytes(run);
  if (limit < open || limit - open < least_bytes) {
    return UsageError(
        fmt::format("{} needs {} (the opened run {}, its work {}) and --memory allows {}; the smallest "
                    "sufficient --memory is {}MiB",
                    verb, FormatByteSize(open + least_bytes), FormatByteSize(open), FormatByteSize(least_bytes),
                    FormatByteSize(limit), ((open + least_bytes) >> 20) + 1));
  }
  const std::uint64_t rest = limit - open;
  const std::uint64_t streamed = StreamedBytes(run);
  if (streamed <= rest / 2 && rest - streamed >= least_bytes) {
    run.embeddings.Map();
    return ReadingMemory{rest - streamed, false};
  }
  run.embeddings.DropBehind();
  run.graph->DropBehind();
  return ReadingMemory{rest, true};
}

}  // namespace octavo
