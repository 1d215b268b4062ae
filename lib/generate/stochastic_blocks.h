// The stochastic block model (Holland, Laskey and Leinhardt, 1983) with equal blocks: a graph with communities.
#pragma once

#include <cstdint>
#include <span>

#include "generate/edge_generator.h"

namespace octavo {

// Node n is in block n mod `blocks`. A head is any node. Its tail is another node of the same block or, in a share
// `mixing` of the edges, any node of another block. Both draws are uniform, so degrees are Poisson with mean 2 * edges
// / nodes. No edge is a loop.
class StochasticBlocks final : public EdgeGenerator {
 public:
  explicit StochasticBlocks(const GenerateOptions& options);

 private:
  void Draw(RandomStream& random, std::span<GeneratedEdge> edges) const override;
  std::uint64_t DrawTail(std::uint64_t head, RandomStream& random) const;

  std::uint64_t nodes_;
  std::uint64_t blocks_;
  std::uint64_t mixing_;  // as a fraction of 2^32
};

}  // namespace octavo
