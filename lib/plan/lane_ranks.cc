#include "plan/lane_ranks.h"

namespace octavo {

LaneRange LanesOfRank(std::uint32_t lanes, std::uint32_t ranks, std::uint32_t rank) {
  const auto first = [&](std::uint64_t of) { return static_cast<std::uint32_t>(of * lanes / ranks); };
  return {.first = first(rank), .end = first(std::uint64_t{rank} + 1)};
}

std::uint32_t RankOfLane(std::uint32_t lanes, std::uint32_t ranks, std::uint32_t lane) {
  std::uint32_t rank = 0;
  while (!LanesOfRank(lanes, ranks, rank).Has(lane)) ++rank;
  return rank;
}

std::vector<std::uint32_t> LanesOfPartitions(const EpochPlan& plan, std::uint32_t round, std::size_t partitions) {
  std::vector<std::uint32_t> lanes(partitions, kNoLane);
  for (const LaneTurn& turn : plan.turns) {
    if (turn.round != round) continue;
    for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
      for (const PartitionId partition : plan.states[s].resident) lanes[Value(partition)] = turn.lane;
    }
  }
  return lanes;
}

}  // namespace octavo
