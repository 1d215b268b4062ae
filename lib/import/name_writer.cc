#include "import/name_writer.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "base/status.h"
#include "fmt/format.h"
#include "format/graph_description.h"
#include "io/file.h"

namespace octavo {
namespace {

// How many names ahead an entry, and then its text, is prefetched: the time of one or two cache misses.
constexpr std::size_t kEntryAhead = 16;
constexpr std::size_t kTextAhead = 8;

}  // namespace

absl::StatusOr<NodeArrays> WriteNodes(const GraphPaths& paths, const NameTable& names, const NameRanking& ranking) {
  ASSIGN_OR_RETURN(const std::unique_ptr<NodeWriter> writer, NodeWriter::Create(paths, ranking.seed));
  const std::size_t count = ranking.by_rank.size();
  for (std::size_t rank = 0; rank < count; ++rank) {
    names.FetchEntry(ranking.by_rank[std::min(rank + kEntryAhead, count - 1)]);
    names.FetchText(ranking.by_rank[std::min(rank + kTextAhead, count - 1)]);
    RETURN_IF_ERROR(writer->Append(ranking.hashes[rank], names.Text(ranking.by_rank[rank])));
  }
  return writer->Finish();
}

absl::StatusOr<std::string> WriteRelations(const GraphPaths& paths, const NameTable& names, const NameRanking& ranking,
                                           std::span<const std::uint64_t> train_edges) {
  std::string text;
  if (ranking.by_rank.empty()) text = fmt::format("{}\t{}\n", kOnlyRelationName, train_edges[0]);
  for (std::size_t i = 0; i < ranking.by_rank.size(); ++i) {
    text += names.Text(ranking.by_rank[i]);
    text += fmt::format("\t{}\n", train_edges[i]);
  }
  ASSIGN_OR_RETURN(File file, File::Create(paths.Relations()));
  RETURN_IF_ERROR(file.WriteAt(0, std::as_bytes(std::span<const char>(text))));
  RETURN_IF_ERROR(file.Close());
  return text;
}

}  // namespace octavo
