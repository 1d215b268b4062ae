// The rounds in which lanes train the buckets of a graph, so that lanes need not talk within a round.
//
// The fine partitions are divided into 2L groups, for L lanes. An epoch has 2L - 1 rounds. In a round each lane holds
// two groups that no other lane holds, and trains the buckets between them. The rounds follow from recursive halving:
// of two halves of the groups one stays with the lanes, the other moves on by a lane a round for L rounds; then each
// half does the same within itself, with half of the lanes. So between two rounds each lane passes on one group and
// keeps the other.
//
// A group is held in every round. Its cells, those between its own partitions, are distributed over all rounds: all of
// them in one round cost 0.01 of the MRR (FB15k-237, ComplEx, 4 lanes).
//
// The groups are drawn anew for each epoch. If they stayed the same, an edge would meet only negatives of the same
// two groups in every epoch, and the scores of the others' nodes would not be comparable: that costs a fifth of the MRR
// (FB15k-237, ComplEx, 10 epochs). In exchange partitions move between epochs.
//
// Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "graph/cell_reader.h"

namespace octavo {

// The two groups that a lane holds in a round.
using LanePair = std::array<std::uint32_t, 2>;

using LaneRound = std::vector<LanePair>;  // of each lane

// Returns the rounds of an epoch. REQUIRES: lanes is a power of two
std::vector<LaneRound> MakeLaneRounds(std::uint32_t lanes);

// The fine partitions of each of the 2L groups, ascending.
using LaneGroups = std::vector<std::vector<PartitionId>>;

// The round in which the cell between two partitions of a group, ascending, is trained. REQUIRES: the group has both
std::uint32_t RoundWithin(const std::vector<PartitionId>& group, std::uint32_t lanes, PartitionId head,
                          PartitionId tail);

// Of the edges within a group about this share is trained in a round, beside all those between a lane's two groups.
inline double ShareWithin(std::uint32_t lanes) { return 1.0 / (2.0 * lanes - 1.0); }

// The most fine partitions that a group has, and that a lane holds.
std::uint32_t LargestLaneGroup(std::uint32_t fine_partitions, std::uint32_t lanes);
std::uint32_t LargestLane(std::uint32_t fine_partitions, std::uint32_t lanes);

// The numbers of edges between fine partitions.
class PartitionEdges {
 public:
  explicit PartitionEdges(std::uint32_t partitions)
      : partitions_(partitions), edges_(std::size_t{partitions} * partitions) {}
  explicit PartitionEdges(const CellReader& cells);

  std::uint32_t partitions() const { return partitions_; }
  std::uint64_t& at(std::uint32_t head, std::uint32_t tail) { return edges_[std::size_t{head} * partitions_ + tail]; }
  std::uint64_t at(std::uint32_t head, std::uint32_t tail) const {
    return edges_[std::size_t{head} * partitions_ + tail];
  }

 private:
  std::uint32_t partitions_;
  std::vector<std::uint64_t> edges_;
};

// Divides the fine partitions into 2L groups of at most LargestLaneGroup partitions and nearly equal numbers of edges,
// at random: of several draws, the one of the best LaneBalance. In a draw partitions with many edges come first, by
// numbers that are multiplied by random factors, and each goes to the group that has the fewest edges so far. Then
// exchanges of partitions between groups are tried at random, and kept where the balance gains.
// REQUIRES: edges.partitions() >= 2 * lanes
LaneGroups DrawLaneGroups(const PartitionEdges& edges, std::uint32_t lanes, std::uint64_t seed, std::uint64_t epoch);

// How even the work is: the edges of all lanes together, divided by what they would be if in each round every lane had
// as many as the one with the most. 1 is best.
double LaneBalance(const PartitionEdges& edges, const LaneGroups& groups);

}  // namespace octavo
