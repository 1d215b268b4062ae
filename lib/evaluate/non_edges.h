// Random pairs of nodes that are not edges: negative pairs for link prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "evaluate/known_edges.h"
#include "graph/graph.h"

namespace octavo {

struct NonEdgeRule {
  std::uint64_t seed = 1;
  // Triples that the model always scores like an edge are not non-edges.
  EdgeMatch match = {};
};

// Draws one non-edge for each of `edges`; the first of them has number `first_number` among all that get one. In a
// graph with one relation it is a uniformly drawn pair of distinct nodes that is not an edge of train, valid or test.
// With several relations it keeps the relation of its edge, and its tail (for odd numbers, its head) is replaced by
// such a node. After 32 draws at one end that were all edges, the next 32 are at the other end, and so on.
//
// Each is a pure function of graph, rule, edge and number. An edge has none if 1,023 draws were all edges or if the
// graph has one node. Reads the edges of the graph once, and again for draws that were edges. Holds kNonEdgeBytes for
// each edge.
absl::StatusOr<std::vector<std::optional<Edge>>> DrawNonEdges(const Graph& graph, std::span<const Edge> edges,
                                                              std::uint64_t first_number, const NonEdgeRule& rule);

inline constexpr std::uint64_t kNonEdgeBytes = 320;

}  // namespace octavo
