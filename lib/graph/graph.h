// An imported graph, opened for reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "base/ids.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "graph/cell_reader.h"
#include "graph/labels.h"
#include "graph/node_names.h"
#include "graph/relation_list.h"

namespace octavo {

// Reads graph.json; a folder without it is a usage error.
absl::StatusOr<GraphDescription> ReadGraphDescription(const GraphPaths& paths);

// Constant after Open and DropBehind; any thread.
class Graph {
 public:
  // Opens and cross-checks every file of the folder, but reads no edges. A folder without graph.json is a usage error;
  // files that do not match each other are corrupt-file errors.
  static absl::StatusOr<std::unique_ptr<Graph>> Open(const std::filesystem::path& folder);

  const GraphDescription& description() const { return description_; }
  const GraphPaths& paths() const { return paths_; }
  std::uint64_t node_count() const { return description_.node_count; }
  std::uint32_t relation_count() const { return description_.relation_count; }

  // Keeps names and cells from filling the page cache. Not concurrently with other calls.
  void DropBehind();

  const NodeNames& nodes() const { return *nodes_; }
  // REQUIRES: id < relation_count()
  std::string_view RelationName(RelationId id) const { return relations_[Value(id)].name; }
  std::optional<RelationId> FindRelation(std::string_view name) const;
  // The labels of nodes and relations; null if the graph has none.
  const Labels* labels() const { return labels_.get(); }
  // Returns the label, empty for none; valid as long as this object. REQUIRES: id < the number of nodes or relations
  std::string_view LabelOf(NodeId id) const { return labels_ == nullptr ? std::string_view() : labels_->Of(id); }
  std::string_view LabelOf(RelationId id) const { return labels_ == nullptr ? std::string_view() : labels_->Of(id); }
  // Returns a corrupt-file error if a name or a label read so far does not match its hash (NodeNames::status).
  absl::Status TextStatus() const;
  // Forget of the names and of the labels.
  void ForgetTexts(std::uint64_t first, std::uint64_t count) const;
  // Training edges of the relation. REQUIRES: id < relation_count()
  std::uint64_t RelationTrainEdges(RelationId id) const { return relations_[Value(id)].train_edges; }
  const CellReader& Edges(Split split) const;

 private:
  static absl::StatusOr<std::unique_ptr<Graph>> OpenFiles(const std::filesystem::path& folder);
  Graph(GraphPaths paths, GraphDescription description, std::unique_ptr<NodeNames> nodes,
        std::unique_ptr<Labels> labels, std::vector<RelationEntry> relations, std::vector<CellReader> splits);

  GraphPaths paths_;
  GraphDescription description_;
  std::unique_ptr<NodeNames> nodes_;
  std::unique_ptr<Labels> labels_;        // null: none
  std::vector<RelationEntry> relations_;  // sorted by the bytes of the name, for binary search
  std::vector<CellReader> splits_;        // train, valid, test
};

}  // namespace octavo
