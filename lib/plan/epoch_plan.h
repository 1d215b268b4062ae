// What an epoch loads, trains and writes back, in fine partitions and cells of the graph.
//
// A memory budget combines the fine partitions of the import into `partitions` partitions of about the same size,
// `resident` of which are in memory. They are drawn anew for each epoch (COMET, Waleffe et al., EuroSys 2023), so
// that any two nodes meet in some epoch. Each epoch starts with the partitions in memory that the previous one ended
// with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "plan/bucket_order.h"
#include "plan/planned_states.h"

namespace octavo {

// How a run divides its tables. {1, 1} means all in memory.
struct PartitionShape {
  std::uint32_t partitions = 1;
  std::uint32_t resident = 1;

  bool WholeGraph() const { return resident >= partitions; }
  friend bool operator==(const PartitionShape&, const PartitionShape&) = default;
};

// The states [first_state, end_state) that a lane trains in a round (plan/lane_schedule.h).
struct LaneTurn {
  std::uint32_t round = 0;  // of the epoch
  std::uint32_t lane = 0;
  std::size_t first_state = 0;
  std::size_t end_state = 0;
};

struct EpochPlan {
  PlannedStates states;
  std::uint64_t exchanges = 0;  // states, except the first, that partitions enter
  std::vector<LaneTurn> turns;  // of lanes, round by round; empty without lanes
  bool ahead = true;            // whether partitions may enter a state while the previous one trains
};

// The plans of consecutive epochs. One owner.
class EpochPlans {
 public:
  virtual ~EpochPlans() = default;
  // Returns the plan of epoch `epoch`, valid until the next call; copies of it stay valid.
  virtual const EpochPlan& Plan(std::uint64_t epoch) = 0;
};

// Those of a training without lanes. One owner.
class EpochPlanner : public EpochPlans {
 public:
  // For `fine_partitions` of the graph, divided by `shape` since epoch `first_epoch`. Without `ahead`, partitions enter
  // when those that leave have left.
  // REQUIRES: fine_partitions >= shape.partitions >= shape.resident >= 1; resident >= 2 if partitions > 1
  EpochPlanner(std::uint32_t fine_partitions, const PartitionShape& shape, BucketOrder order, std::uint64_t seed,
               std::uint64_t first_epoch = 0, bool ahead = true);

  // Returns the plan of epoch `epoch`, valid until the next call. It depends only on the epoch and the constructor's
  // arguments. Plans skipped epochs too, so call in ascending order. REQUIRES: epoch >= first_epoch
  const EpochPlan& Plan(std::uint64_t epoch) override;

 private:
  std::vector<std::vector<PartitionId>> DrawPartitions(std::uint64_t epoch) const;
  void MakePlan(std::uint64_t epoch);

  const std::uint32_t fine_partitions_;
  const PartitionShape shape_;
  const BucketOrder order_;
  const std::uint64_t seed_;
  const std::uint64_t first_epoch_;
  const bool ahead_;
  std::vector<PartitionId> carried_;  // in memory when the next epoch begins; empty at first_epoch_
  std::uint64_t epoch_ = 0;           // of plan_
  bool planned_ = false;
  EpochPlan plan_;
};

// Bytes between disk and memory.
struct Traffic {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};

// Returns the bytes that the tables move from state `first_state` on, for which `first_loads` are loaded. Leaving
// partitions are written; so are resident ones at the end of the epoch, by the commit. `bytes_of` returns the size of a
// partition.
Traffic PlannedTraffic(const EpochPlan& plan, const std::function<std::uint64_t(PartitionId)>& bytes_of,
                       std::size_t first_state, std::span<const PartitionId> first_loads);

// The number of fine partitions in the largest partition.
std::uint32_t LargestPartition(std::uint32_t fine_partitions, std::uint32_t partitions);

// The most partitions that the lists of so many states have, without lanes.
std::uint64_t PartitionsListed(std::uint32_t fine_partitions, const PartitionShape& shape, std::uint64_t states);

}  // namespace octavo
