#include "train/answer_weights.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/edge.h"
#include "base/status.h"

namespace octavo {

absl::StatusOr<AnswerWeights> AnswerWeights::Gather(const CellReader& edges, std::uint64_t nodes, double share,
                                                    const std::function<bool()>& stop) {
  AnswerWeights result;
  result.degrees_.resize(nodes);
  const auto count = [&](NodeId node) {
    std::uint32_t& degree = result.degrees_[Value(node)];
    if (degree < std::numeric_limits<std::uint32_t>::max()) ++degree;
  };
  std::vector<Edge> block;
  std::vector<std::byte> scratch;
  for (std::size_t b = 0; b < edges.block_count(); ++b) {
    if (stop && stop()) return absl::CancelledError("reading the degrees was stopped");
    block.resize(edges.block(b).edges);
    RETURN_IF_ERROR(edges.ReadBlock(b, block, scratch));
    edges.Forget(b, b + 1);
    for (const Edge& edge : block) {
      count(edge.head);
      count(edge.tail);
    }
  }

  double ends = 0;
  double squares = 0;
  double most = 0;
  for (const std::uint32_t degree : result.degrees_) {
    ends += degree;
    squares += static_cast<double>(degree) * degree;
    most = std::max<double>(most, degree);
  }
  if (ends == 0) return result;
  const double mean = (1 - share) + share * squares / ends / most;
  result.least_ = (1 - share) / mean;
  result.of_edge_ = share / most / mean;
  return result;
}

}  // namespace octavo
