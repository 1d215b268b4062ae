#include "train/mean_weight.h"

#include <cstddef>
#include <vector>

#include "base/edge.h"
#include "base/status.h"

namespace octavo {

absl::StatusOr<double> MeanWeight(const CellReader& edges, const std::function<bool()>& stop) {
  if (edges.header().has_weights == 0) return 1.0;
  double sum = 0;
  std::vector<Edge> block;
  std::vector<std::byte> scratch;
  for (std::size_t b = 0; b < edges.block_count(); ++b) {
    if (stop && stop()) return absl::CancelledError("reading the weights was stopped");
    block.resize(edges.block(b).edges);
    RETURN_IF_ERROR(edges.ReadBlock(b, block, scratch));
    edges.Forget(b, b + 1);
    for (const Edge& edge : block) sum += edge.weight;
  }
  return sum > 0 ? sum / static_cast<double>(edges.edge_count()) : 1.0;
}

}  // namespace octavo
