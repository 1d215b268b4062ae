// R-MAT (Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004) with the parameters of
// Graph500. An edge is a cell of the adjacency matrix, found by choosing a quadrant repeatedly, with probabilities a =
// 0.57 (low head, low tail), b = 0.19 (low, high), c = 0.19 (high, low) and d = 0.05.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "generate/edge_generator.h"
#include "generate/permutation.h"

namespace octavo {

// The matrix side is the smallest power of two that is at least `nodes`. An edge with an end past the last node is
// drawn again, so `nodes` may be any number. A permutation then renumbers the nodes, so that a node's number says
// nothing about its degree. Duplicate edges and loops are kept, as in Graph500.
class Rmat final : public EdgeGenerator {
 public:
  static constexpr std::array<double, 4> kQuadrants = {0.57, 0.19, 0.19, 0.05};

  explicit Rmat(const GenerateOptions& options);

 private:
  // Four quadrant choices at once are one draw among 256 outcomes, each a nibble of head bits above a nibble of tail
  // bits. Walker's alias method (1977): column c stands for itself below its threshold, for its alias above.
  struct Column {
    std::uint32_t threshold = 0;  // compared with 24 random bits
    std::uint8_t alias = 0;
  };

  void Draw(RandomStream& random, std::span<GeneratedEdge> edges) const override;
  void MakeColumns();

  std::uint64_t nodes_;
  unsigned levels_;  // log2 of the matrix's side
  std::array<Column, 256> columns_;
  Permutation permutation_;
};

}  // namespace octavo
