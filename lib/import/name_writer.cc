#include "import/name_writer.h"

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"
#include "format/graph_description.h"
#include "io/checksum.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

absl::StatusOr<ArrayHeader> WriteArray(const std::filesystem::path& path, ArrayHeader header,
                                       std::span<const std::uint64_t> values) {
  header.count = values.size();
  header.data_checksum = Checksum64(std::as_bytes(values));
  ASSIGN_OR_RETURN(File file, File::Create(path));
  RETURN_IF_ERROR(file.WriteAt(0, EncodeArrayHeader(header)));
  RETURN_IF_ERROR(file.WriteAt(sizeof(ArrayHeader), std::as_bytes(values)));
  RETURN_IF_ERROR(file.Close());
  return header;
}

// Writes one name a line, in rank order, and returns where each line begins and the last one ends.
absl::StatusOr<std::vector<std::uint64_t>> WriteNames(const std::filesystem::path& path, const NameTable& names,
                                                      const NameRanking& ranking) {
  ASSIGN_OR_RETURN(File file, File::Create(path));
  std::vector<std::uint64_t> offsets;
  offsets.reserve(ranking.by_rank.size() + 1);
  std::string buffer;
  std::uint64_t written = 0;
  const auto flush = [&]() -> absl::Status {
    RETURN_IF_ERROR(file.WriteAt(written, std::as_bytes(std::span<const char>(buffer))));
    written += buffer.size();
    buffer.clear();
    return absl::OkStatus();
  };
  for (const std::uint32_t id : ranking.by_rank) {
    offsets.push_back(written + buffer.size());
    buffer += names.Text(id);
    buffer += '\n';
    if (buffer.size() >= kBufferBytes) RETURN_IF_ERROR(flush());
  }
  RETURN_IF_ERROR(flush());
  offsets.push_back(written);
  RETURN_IF_ERROR(file.Close());
  return offsets;
}

}  // namespace

absl::StatusOr<NodeArrays> WriteNodes(const GraphPaths& paths, const NameTable& names, const NameRanking& ranking) {
  NodeArrays arrays;
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> offsets, WriteNames(paths.NodeNames(), names, ranking));
  ASSIGN_OR_RETURN(arrays.offsets, WriteArray(paths.NodeOffsets(), {.kind = ArrayKind::kNodeOffsets}, offsets));
  ASSIGN_OR_RETURN(
      arrays.hashes,
      WriteArray(paths.NodeHashes(), {.kind = ArrayKind::kNodeHashes, .hash_seed = ranking.seed}, ranking.hashes));
  return arrays;
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
