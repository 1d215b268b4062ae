// Random pairs of nodes that are no edges: what held-out edges are told from.
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
  // What the model gives the score of an edge is none of its non-edges.
  EdgeMatch match = {};
};

// Draws one non-edge for each of `edges`, the first of which is number `first_number` of all that get one. In a graph
// with one relation it is a pair of different nodes, uniformly drawn, that is no edge of train, valid or test. With
// several relations it has the relation of its edge, and the tail or, for odd numbers, the head of it is replaced by
// such a node; where 32 draws at that end were edges, the next 32 are at the other one, and so on.
//
// Each is a pure function of graph, rule, edge and number. None comes for an edge where 1,023 draws, or a graph of one
// node, gave none. Streams the edges of the graph, once and, for draws that were edges, again. Holds kNonEdgeBytes for
// each edge.
absl::StatusOr<std::vector<std::optional<Edge>>> DrawNonEdges(const Graph& graph, std::span<const Edge> edges,
                                                              std::uint64_t first_number, const NonEdgeRule& rule);

inline constexpr std::uint64_t kNonEdgeBytes = 320;

}  // namespace octavo
