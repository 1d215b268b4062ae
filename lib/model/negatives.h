// Negative sampling: nodes shared by all edges of a chunk, and the pairs among them that are known to be positive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/edge.h"
#include "base/random.h"
#include "model/model_spec.h"

namespace octavo {

// Ids [begin, end) that negatives may be drawn from; with partitions, one range for each series of adjacent resident
// ones.
struct NodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The degree of a node: the number of its edges, or the sum of their weights.
enum class DegreeBy { kEdges, kWeights };

// Fills `negatives` with independent draws. The first round(degree_fraction * size) are the nodes at `side` of edges
// drawn from `batch`: uniformly, so a node's probability is its share of the batch's edges (degree-weighted, as in
// PyTorch-BigGraph), or by weight, then listed in the order of the batch. The others are uniform over `ranges`. The
// result is a pure function of the arguments. REQUIRES: ranges hold at least one node; batch is not empty, weights are
// above 0; 0 <= degree_fraction <= 1
void SampleNegatives(RandomStream stream, std::span<const NodeRange> ranges, std::span<const Edge> batch, Side side,
                     float degree_fraction, std::span<NodeId> negatives, DegreeBy degree = DegreeBy::kEdges);

struct MaskedPair {
  std::uint32_t query = 0;     // index in the chunk
  std::uint32_t negative = 0;  // index in the chunk's negatives

  friend auto operator<=>(const MaskedPair&, const MaskedPair&) = default;
};

// Finds the accidental positives of a chunk in which edges [begins[q], begins[q + 1]) share query q: the pairs (q, j)
// for which an edge of q, with negatives[j] as its node at `side`, is an edge of `chunk`; it may be the same edge.
// Overwrites `pairs` with them, sorted, without duplicates. The cost is a sort, not edges x negatives look-ups.
// REQUIRES: the edges of a query have the same relation and the same node at the other side
void FindAccidentalPositives(std::span<const Edge> chunk, std::span<const std::uint32_t> begins,
                             std::span<const NodeId> negatives, Side side, std::vector<MaskedPair>& pairs);

}  // namespace octavo
