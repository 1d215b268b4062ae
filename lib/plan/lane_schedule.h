// The rounds in which lanes train the buckets of a graph, so that lanes need not talk within a round.
//
// The fine partitions are divided into 2L groups, for L lanes. An epoch has 2L - 1 rounds. In a round each lane holds
// two groups that no other lane holds, and trains the buckets between them. The rounds follow from recursive halving:
// of two halves of the groups one stays with the lanes, the other moves on by a lane a round for L rounds; then each
// half does the same within itself, with half of the lanes. So between two rounds each lane passes on one group and
// keeps the other. In the last round, in which each lane holds two groups that came together only then, the buckets
// within the groups are trained too.
//
// Odd epochs take the rounds backwards: no group moves between epochs. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "graph/cell_reader.h"

namespace octavo {

// The two groups that a lane holds in a round.
using LanePair = std::array<std::uint32_t, 2>;

struct LaneRound {
  std::vector<LanePair> lanes;
  bool within = false;  // trains the buckets within the groups, too
};

// Returns the rounds of an epoch. REQUIRES: lanes is a power of two
std::vector<LaneRound> MakeLaneRounds(std::uint32_t lanes, std::uint64_t epoch);

// The fine partitions of each of the 2L groups, ascending.
using LaneGroups = std::vector<std::vector<PartitionId>>;

// The most fine partitions that a group has, and that a lane holds.
std::uint32_t LargestLaneGroup(std::uint32_t fine_partitions, std::uint32_t lanes);
std::uint32_t LargestLane(std::uint32_t fine_partitions, std::uint32_t lanes);

// Divides the fine partitions into 2L groups of nearly equal numbers of edges, at most LargestLaneGroup partitions
// each: partitions with many edges first, each to the group that has the fewest so far. `edges` has the edges of each
// partition, as heads and as tails. REQUIRES: edges.size() >= 2 * lanes
LaneGroups BalanceLaneGroups(std::span<const std::uint64_t> edges, std::uint32_t lanes);

// The same for the edges of a graph.
LaneGroups BalanceLaneGroups(const CellReader& cells, std::uint32_t lanes);

// How even the work is: the edges of all lanes together, divided by what they would be if in each round every lane had
// as many as the one with the most. 1 is best.
double LaneBalance(const CellReader& cells, const LaneGroups& groups);

}  // namespace octavo
