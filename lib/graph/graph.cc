#include "graph/graph.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/file.h"

namespace octavo {
namespace {

// Far above any graph.json; a foreign file cannot fill memory.
constexpr std::uint64_t kMaxDescriptionBytes = std::uint64_t{64} << 20;

absl::Status CheckCells(const GraphDescription& description, Split split, const CellsHeader& cells,
                        const std::string& file_name) {
  const auto check = [&](std::string_view what, std::uint64_t found, std::uint64_t expected) -> absl::Status {
    if (found == expected) return absl::OkStatus();
    return CorruptError(fmt::format("{}: {} {}; expected {}, as graph.json says", file_name, what, found, expected));
  };
  RETURN_IF_ERROR(check("node count", cells.node_count, description.node_count));
  RETURN_IF_ERROR(check("relation count", cells.relation_count, description.relation_count));
  RETURN_IF_ERROR(check("rows per partition", cells.partition_rows, description.partition_rows));
  RETURN_IF_ERROR(check("partition count", cells.partition_count, description.partition_count));
  RETURN_IF_ERROR(check("weight column", cells.has_weights, description.has_weights ? 1 : 0));
  return check("edge count", cells.edge_count, description.Edges(split));
}

}  // namespace

absl::StatusOr<GraphDescription> ReadGraphDescription(const GraphPaths& paths) {
  ASSIGN_OR_RETURN(const bool there, FileExists(paths.Description()));
  if (!there) {
    ASSIGN_OR_RETURN(const bool is_run, FileExists(RunPaths(paths.folder()).State()));
    if (is_run) {
      return UsageError(fmt::format("{}: is a run, not a graph; expected a graph folder, as made by octavo import",
                                    paths.folder().string()));
    }
    return UsageError(
        fmt::format("{}: not a graph (it has no graph.json); make one with octavo import", paths.folder().string()));
  }
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(paths.Description(), kMaxDescriptionBytes));
  return DecodeGraphDescription(text, paths.Description().string());
}

Graph::Graph(GraphPaths paths, GraphDescription description, std::unique_ptr<NodeNames> nodes,
             std::unique_ptr<Labels> labels, std::vector<RelationEntry> relations, std::vector<CellReader> splits)
    : paths_(std::move(paths)),
      description_(description),
      nodes_(std::move(nodes)),
      labels_(std::move(labels)),
      relations_(std::move(relations)),
      splits_(std::move(splits)) {}

// Opens the files that belong to a graph.json.
absl::StatusOr<std::unique_ptr<Graph>> Graph::OpenFiles(const std::filesystem::path& folder) {
  GraphPaths paths(folder);
  ASSIGN_OR_RETURN(const GraphDescription description, ReadGraphDescription(paths));
  ASSIGN_OR_RETURN(std::unique_ptr<NodeNames> nodes, NodeNames::Open(paths));
  if (nodes->size() != description.node_count) {
    return CorruptError(fmt::format("{}: {} hashes; expected {}, as graph.json says", paths.NodeHashes().string(),
                                    nodes->size(), description.node_count));
  }
  ASSIGN_OR_RETURN(const std::string relation_text, ReadWholeFile(paths.Relations(), kMaxRelationsBytes));
  ASSIGN_OR_RETURN(std::vector<RelationEntry> relations, ParseRelationList(relation_text, paths.Relations().string()));
  if (relations.size() != description.relation_count) {
    return CorruptError(fmt::format("{}: {} relations; expected {}, as graph.json says", paths.Relations().string(),
                                    relations.size(), description.relation_count));
  }
  std::vector<CellReader> splits;
  std::array<CellsHeader, 3> headers;
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    ASSIGN_OR_RETURN(CellReader reader, CellReader::Open(paths.Cells(split)));
    RETURN_IF_ERROR(CheckCells(description, split, reader.header(), paths.Cells(split).string()));
    headers[splits.size()] = reader.header();
    splits.push_back(std::move(reader));
  }
  const std::uint64_t fingerprint =
      GraphFingerprint(headers, nodes->hash_header(), nodes->offset_header(), relation_text);
  if (fingerprint != description.fingerprint) {
    return CorruptError(fmt::format("{}: files of fingerprint {:016x}; expected {:016x}, as graph.json says",
                                    folder.string(), fingerprint, description.fingerprint));
  }
  std::unique_ptr<Labels> labels;
  if (description.HasLabels()) {
    ASSIGN_OR_RETURN(labels, Labels::Open(paths, description));
  }
  return std::unique_ptr<Graph>(new Graph(std::move(paths), description, std::move(nodes), std::move(labels),
                                          std::move(relations), std::move(splits)));
}

absl::StatusOr<std::unique_ptr<Graph>> Graph::Open(const std::filesystem::path& folder) {
  absl::StatusOr<std::unique_ptr<Graph>> graph = OpenFiles(folder);
  std::error_code error;
  // graph.json exists, so a missing file is damage, not a wrong path.
  if (!graph.ok() && KindOf(graph.status()) == ErrorKind::kUsage &&
      std::filesystem::exists(GraphPaths(folder).Description(), error)) {
    return CorruptError(MessageOf(graph.status()));
  }
  return graph;
}

std::optional<RelationId> Graph::FindRelation(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      relations_, name, {}, [](const RelationEntry& relation) { return std::string_view(relation.name); });
  if (found == relations_.end() || found->name != name) return std::nullopt;
  return RelationId{static_cast<std::uint32_t>(found - relations_.begin())};
}

void Graph::DropBehind() {
  nodes_->DropBehind();
  if (labels_ != nullptr) labels_->DropBehind();
  for (CellReader& cells : splits_) cells.DropBehind();
}

absl::Status Graph::TextStatus() const {
  RETURN_IF_ERROR(nodes_->status());
  return labels_ == nullptr ? absl::OkStatus() : labels_->status();
}

void Graph::ForgetTexts(std::uint64_t first, std::uint64_t count) const {
  nodes_->Forget(first, count);
  if (labels_ != nullptr) labels_->Forget(first, count);
}

const CellReader& Graph::Edges(Split split) const { return splits_[static_cast<std::size_t>(split)]; }

}  // namespace octavo
