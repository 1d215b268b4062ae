// The stochastic block model (Holland, Laskey and Leinhardt, 1983) with blocks of one size: a graph with communities.
#pragma once

#include <cstdint>
#include <span>

#include "generate/edge_generator.h"

namespace octavo {

// Node n is of block n mod `blocks`. A head is any node; its tail is another node of its block, or, in a share `mixing`
// of the edges, any node of another block. Of the other probabilities all are equal, so degrees are Poisson around
// 2 * edges / nodes. No edge is a loop.
class StochasticBlocks final : public EdgeGenerator {
 public:
  explicit StochasticBlocks(const GenerateOptions& options);

 private:
  void Draw(RandomStream& random, std::span<GeneratedEdge> edges) const override;
  std::uint64_t DrawTail(std::uint64_t head, RandomStream& random) const;

  std::uint64_t nodes_;
  std::uint64_t blocks_;
  std::uint64_t mixing_;  // of 2^32
};

}  // namespace octavo
