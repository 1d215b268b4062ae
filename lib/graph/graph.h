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
#include "format/paths.h"
#include "graph/cell_reader.h"
#include "graph/node_names.h"

namespace octavo {

// What graph.json says.
struct GraphDescription {
  std::uint64_t node_count = 0;
  std::uint32_t relation_count = 0;  // at least 1
  std::uint64_t partition_rows = 0;  // a multiple of kPartitionRowQuantum
  std::uint32_t partition_count = 0;
  bool has_relations = false;  // the input had a relation column
  bool has_weights = false;
  std::uint64_t train_edges = 0;
  std::uint64_t valid_edges = 0;
  std::uint64_t test_edges = 0;
  // XXH3-64 over the header and index checksums of the cells and the node arrays: which graph this is. A run keeps it
  // and refuses another graph.
  std::uint64_t fingerprint = 0;
};

// Constant after Open; any thread.
class Graph {
 public:
  // Opens and cross-checks every file of the folder but reads no edge. A folder without graph.json is a usage error,
  // files that do not fit each other are corrupt-file errors.
  static absl::StatusOr<std::unique_ptr<Graph>> Open(const std::filesystem::path& folder);

  const GraphDescription& description() const { return description_; }
  const GraphPaths& paths() const { return paths_; }
  std::uint64_t node_count() const { return description_.node_count; }
  std::uint32_t relation_count() const { return description_.relation_count; }

  const NodeNames& nodes() const { return *nodes_; }
  // REQUIRES: id < relation_count()
  std::string_view RelationName(RelationId id) const { return relation_names_[Value(id)]; }
  std::optional<RelationId> FindRelation(std::string_view name) const;
  const CellReader& Edges(Split split) const;

 private:
  Graph(GraphPaths paths, GraphDescription description, std::unique_ptr<NodeNames> nodes,
        std::vector<std::string> relation_names, std::vector<CellReader> splits);

  GraphPaths paths_;
  GraphDescription description_;
  std::unique_ptr<NodeNames> nodes_;
  std::vector<std::string> relation_names_;  // sorted by bytes, so a name is found by binary search
  std::vector<CellReader> splits_;           // train, valid, test
};

}  // namespace octavo
