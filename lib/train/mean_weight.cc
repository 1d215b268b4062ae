#include "train/mean_weight.h"

#include "base/edge.h"
#include "base/status.h"
#include "graph/each_edge.h"

namespace octavo {

absl::StatusOr<double> MeanWeight(const CellReader& edges, const std::function<bool()>& stop) {
  if (edges.header().has_weights == 0) return 1.0;
  double sum = 0;
  RETURN_IF_ERROR(ForEachEdge(edges, stop, [&](const Edge& edge) { sum += edge.weight; }));
  return sum > 0 ? sum / static_cast<double>(edges.edge_count()) : 1.0;
}

}  // namespace octavo
