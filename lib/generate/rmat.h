// R-MAT (Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004) with the parameters of
// Graph500: an edge is a cell of the adjacency matrix, found by choosing a quadrant of it again and again, with the
// probabilities a = 0.57 (low head, low tail), b = 0.19 (low, high), c = 0.19 (high, low) and d = 0.05.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "generate/edge_generator.h"
#include "generate/permutation.h"

namespace octavo {

// The matrix has the power of two not below `nodes`; an edge with an end past the last node is drawn again, so any
// number of nodes will do. Ends are then renumbered by a permutation: the number of a node says nothing of its degree.
// Copies of edges and loops are kept, as Graph500 keeps them.
class Rmat final : public EdgeGenerator {
 public:
  static constexpr std::array<double, 4> kQuadrants = {0.57, 0.19, 0.19, 0.05};

  explicit Rmat(const GenerateOptions& options);

 private:
  // Four choices of a quadrant at once are one draw of 256 outcomes, each a nibble of head bits above a nibble of tail
  // bits, by Walker's alias method (1977): column c stands for itself below its threshold, for its alias above.
  struct Column {
    std::uint32_t threshold = 0;  // of 24 random bits
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
