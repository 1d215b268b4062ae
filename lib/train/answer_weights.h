// What the loss of a question counts by the degree of its answer. Penalties count the same for every edge, so nodes of
// few edges are restrained more. The code of DURA (Zhang, Cai and Wang, NeurIPS 2020) weighs answers by degree, too.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "format/graph_description.h"
#include "graph/cell_reader.h"

namespace octavo {

// Constant after construction; any thread.
class AnswerWeights {
 public:
  // Reads all training edges once. The weight of a node is 1 - share + share * degree / mean degree, where the mean is
  // over both ends of all edges, also where only some edges are trained; so the mean of the weights there is 1. Weights
  // of edges do not count. The same bits each time. Ends with absl::CancelledError soon after `stop`, which may be
  // empty, returns true.
  // REQUIRES: 0 <= share <= 1
  static absl::StatusOr<AnswerWeights> Gather(const CellReader& edges, std::uint64_t nodes, double share,
                                              const std::function<bool()>& stop);

  // What one holds.
  static std::uint64_t Bytes(const GraphDescription& graph) { return graph.node_count * sizeof(std::uint32_t); }

  float Of(NodeId node) const {
    return static_cast<float>(least_ + of_edge_ * static_cast<double>(degrees_[Value(node)]));
  }

 private:
  std::vector<std::uint32_t> degrees_;  // [nodes]; a loop counts twice
  double least_ = 1;
  double of_edge_ = 0;
};

}  // namespace octavo
