// What the choice of training options depends on: the sizes of a graph, and how its relations behave.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace octavo {

// Shares are in [0, 1]. Those below the line are of the training edges, or of a sample of them (choose/edge_sample.h).
struct GraphFacts {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;  // training edges
  std::uint64_t relations = 0;
  bool has_weights = false;
  bool of_walks = false;  // made by octavo walk: its edges are the pairs already
  // ---
  bool sampled = false;
  double inverse_share = 0;    // edges (h, r, t) with an edge (t, r', h), where r' is the relation, other than r, for
                               // which that holds most often
  double symmetric_share = 0;  // edges (h, r, t) with an edge (t, r, h)
  double query_share = 0;      // distinct (h, r, ?) and (?, r, t), as a share of two for each edge
  bool two_kinds = false;      // no node is the head of an edge and the tail of another: users and what they bought
  double end_degree = 0;     // edges of the node at an end of an edge, geometric mean over all ends: hubs count for as
                             // many ends as they have
  double largest_share = 0;  // edges with the node that has the most of them

  double EdgesPerNode() const { return static_cast<double>(edges) / static_cast<double>(nodes); }
  // Whether relations say more than that two nodes are linked.
  bool HasRelations() const { return relations > 1; }
};

// Measures the training edges, at most about two million of them, or fewer if `memory` bytes allow no more. A function
// of the graph and, if memory is short, of `memory`: neither threads nor time have a part in it. REQUIRES: the graph
// has training edges
absl::StatusOr<GraphFacts> MeasureFacts(const Graph& graph, std::uint64_t memory);

}  // namespace octavo
