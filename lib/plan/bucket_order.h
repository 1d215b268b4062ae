// The order in which an epoch visits the buckets of a partitioned graph, and which partitions are in memory when.
//
// A bucket (i, j) holds the edges whose head is in partition i and whose tail is in partition j. Training it needs both
// partitions in memory, which has room for `resident` of them. An order is a sequence of states. A state holds
// `resident` partitions; the next state has one of them exchanged. Each bucket is trained in one state that holds both
// its partitions. A partition consists of units, and a bucket of cells, one for each pair of units.
//
//   beta        "BETA" of Marius (Mohoney et al., OSDI 2021): all partitions but one stay, while the others pass
//               through the last place; then the ones that stayed are replaced for good. Each cell is assigned to a
//               random state that holds both its partitions, as COMET does for buckets (MariusGNN, Waleffe et al.,
//               EuroSys 2023), so that the work is even and the order of edges less biased.
//   inside-out  layer k has the buckets whose larger index is k (PyTorch-BigGraph, Lerer et al., MLSys 2019)
//   random      any order
//
// In the last two, the partition whose next use is farthest leaves (Belady 1966).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace octavo {

enum class BucketOrder { kBeta, kInsideOut, kRandom };

// Edges from unit `head` to unit `tail`. Units are numbered consecutively, partition by partition.
struct UnitCell {
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
  friend auto operator<=>(const UnitCell&, const UnitCell&) = default;
};

// One partition leaves, another enters.
struct Exchange {
  std::uint32_t leaves = 0;
  std::uint32_t enters = 0;
};

// The states of an epoch, in three arrays: with 512 partitions there are up to 131,000 states and 262,000 cells.
struct StateSequence {
  std::vector<Exchange> exchanges;        // exchanges[s - 1] leads from state s - 1 to state s
  std::vector<UnitCell> cells;            // state by state, unordered within a state
  std::vector<std::uint32_t> first_cell;  // of each state, and the number of cells

  std::size_t size() const { return exchanges.size() + 1; }
  // The cells that state `s` trains; may be empty.
  std::span<const UnitCell> CellsOf(std::size_t s) const {
    return std::span(cells).subspan(first_cell[s], first_cell[s + 1] - first_cell[s]);
  }
};

// Returns the states of an epoch over partitions with `units[p]` units each. The first state holds partitions 0 to
// resident - 1. Each pair of units is in exactly one state. A pure function of its arguments.
// REQUIRES: units.size() >= resident >= 1; resident >= 2 if there are several partitions
StateSequence MakeBucketOrder(BucketOrder order, std::span<const std::uint32_t> units, std::uint32_t resident,
                              RandomStream random);

// Exchanges of one epoch in the BETA order, after memory is filled: the closed form of the Marius paper.
// REQUIRES: as above, for the number of partitions
std::uint64_t BetaExchanges(std::uint32_t partitions, std::uint32_t resident);

// A lower bound for every order: each exchange brings at most resident - 1 new pairs of partitions together.
// REQUIRES: as above
std::uint64_t LeastExchanges(std::uint32_t partitions, std::uint32_t resident);

}  // namespace octavo
