// Which rank of a training by several processes trains which lanes, and so has which partitions in a round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "plan/epoch_plan.h"

namespace octavo {

// Lanes [first, end).
struct LaneRange {
  std::uint32_t first = 0;
  std::uint32_t end = 1;

  bool Has(std::uint32_t lane) const { return lane >= first && lane < end; }
};

// The lanes of a rank of several: floor(rank * lanes / ranks) is the first. REQUIRES: rank < ranks <= lanes
LaneRange LanesOfRank(std::uint32_t lanes, std::uint32_t ranks, std::uint32_t rank);
std::uint32_t RankOfLane(std::uint32_t lanes, std::uint32_t ranks, std::uint32_t lane);

// The lane that has each partition in the round, or kNoLane if none uses it.
inline constexpr std::uint32_t kNoLane = ~std::uint32_t{0};
std::vector<std::uint32_t> LanesOfPartitions(const EpochPlan& plan, std::uint32_t round, std::size_t partitions);

}  // namespace octavo
