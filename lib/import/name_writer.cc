#include "import/name_writer.h"

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "fmt/format.h"
#include "format/graph_description.h"
#include "io/file.h"

namespace octavo {
absl::StatusOr<NodeArrays> WriteNodes(const GraphPaths& paths, const NameTable& names, const NameRanking& ranking) {
  ASSIGN_OR_RETURN(const std::unique_ptr<NodeWriter> writer, NodeWriter::Create(paths, ranking.seed));
  for (std::size_t rank = 0; rank < ranking.by_rank.size(); ++rank) {
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
