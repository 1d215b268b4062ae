// The known edges of one node, by relation and direction.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "base/ids.h"
#include "graph/graph.h"

namespace octavo {

struct NodeEdges {
  struct Group {
    RelationId relation{};
    bool is_head = true;                             // the node is the head of these edges
    std::array<std::uint64_t, 3> counts{};           // in train, valid and test
    std::vector<std::pair<NodeId, Split>> others{};  // the first ones by id, at most as many as asked for

    std::uint64_t count() const { return counts[0] + counts[1] + counts[2]; }
  };
  std::vector<Group> groups;  // by relation; the node as head first
  std::uint64_t degree = 0;   // training edges, in and out, self-loops counted twice
};

// Reads the cells of the node's partition in all three splits, in parallel. Keeps up to `most` other ends for each
// group. `stop`, if set, is called for every block and ends it with a cancelled error.
// REQUIRES: node < graph.node_count()
absl::StatusOr<NodeEdges> FindNodeEdges(const Graph& graph, NodeId node, std::size_t most,
                                        const std::function<bool()>& stop = nullptr);

}  // namespace octavo
