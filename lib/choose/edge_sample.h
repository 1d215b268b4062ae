// A sample of a graph's training edges in which an edge has all edges between the same two nodes with it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "graph/graph.h"

namespace octavo {

struct EdgeSample {
  std::vector<Edge> edges;  // in file order
  bool whole = true;        // every training edge
};

// Reads at most about `most` training edges, or all if they are no more. Otherwise whole cells are taken, each with the
// cell of the opposite direction, in an order drawn by counter; if the first two are too many, pairs of nodes are drawn
// in addition. A function of graph and `most`. REQUIRES: most > 0
absl::StatusOr<EdgeSample> SampleEdges(const Graph& graph, std::uint64_t most);

}  // namespace octavo
