#include "train/answer_weights.h"

#include <limits>

#include "base/edge.h"
#include "base/status.h"
#include "graph/each_edge.h"

namespace octavo {

absl::StatusOr<AnswerWeights> AnswerWeights::Gather(const CellReader& edges, std::uint64_t nodes, double share,
                                                    const std::function<bool()>& stop) {
  AnswerWeights result;
  result.degrees_.resize(nodes);
  const auto count = [&](NodeId node) {
    std::uint32_t& degree = result.degrees_[Value(node)];
    if (degree < std::numeric_limits<std::uint32_t>::max()) ++degree;
  };
  RETURN_IF_ERROR(ForEachEdge(edges, stop, [&](const Edge& edge) {
    count(edge.head);
    count(edge.tail);
  }));

  double ends = 0;
  double squares = 0;
  for (const std::uint32_t degree : result.degrees_) {
    ends += degree;
    squares += static_cast<double>(degree) * degree;
  }
  if (ends == 0) return result;
  result.least_ = 1 - share;
  result.of_edge_ = share * ends / squares;
  return result;
}

}  // namespace octavo
