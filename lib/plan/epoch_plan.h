// What an epoch loads, trains and gives back, in terms of the graph's fine partitions and cells.
//
// A memory budget groups the fine partitions of the import into `partitions` groups of about the same size, of which
// `resident` are in memory. The groups are drawn anew for each epoch (COMET, Waleffe et al., EuroSys 2023), so that no
// two nodes are strangers for the whole training; what is in memory at the end of an epoch is what the next one begins
// with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/ids.h"
#include "plan/bucket_order.h"

namespace octavo {

// How a run divides its tables. All in memory is {1, 1}.
struct PartitionShape {
  std::uint32_t partitions = 1;
  std::uint32_t resident = 1;

  bool WholeGraph() const { return resident >= partitions; }
  friend bool operator==(const PartitionShape&, const PartitionShape&) = default;
};

// The cell of edges from a node of fine partition `head` to one of `tail`.
struct CellId {
  PartitionId head{};
  PartitionId tail{};
  friend auto operator<=>(const CellId&, const CellId&) = default;
};

struct PlannedState {
  // Against the state before, ascending; both empty for the first state.
  std::vector<PartitionId> leaving;
  std::vector<PartitionId> entering;
  std::vector<PartitionId> resident;  // all that are in memory, ascending
  std::vector<CellId> cells;          // trained in this state, ascending; may be empty
};

struct EpochPlan {
  std::vector<PlannedState> states;
  std::uint64_t exchanges = 0;  // of groups, one for each state but the first
};

// The plans of consecutive epochs. One owner.
class EpochPlanner {
 public:
  // `fine_partitions` of the graph, divided by `shape` from epoch `first_epoch` on.
  // REQUIRES: fine_partitions >= shape.partitions >= shape.resident >= 1; resident >= 2 where partitions > 1
  EpochPlanner(std::uint32_t fine_partitions, const PartitionShape& shape, BucketOrder order, std::uint64_t seed,
               std::uint64_t first_epoch = 0);

  // Returns the plan of epoch `epoch`, a pure function of it and of the constructor's arguments; valid until the next
  // call. Costs the epochs between, so that they are best asked for in order. REQUIRES: epoch >= first_epoch
  const EpochPlan& Plan(std::uint64_t epoch);

 private:
  std::vector<std::vector<PartitionId>> DrawGroups(std::uint64_t epoch) const;
  void MakePlan(std::uint64_t epoch);

  const std::uint32_t fine_partitions_;
  const PartitionShape shape_;
  const BucketOrder order_;
  const std::uint64_t seed_;
  const std::uint64_t first_epoch_;
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

// Returns what the tables move from state `first_state` on: with `cold` its partitions come into memory first; what
// leaves is written, and at the end of the epoch what is resident, by the commit. `bytes_of` has the size of a
// partition.
Traffic PlannedTraffic(const EpochPlan& plan, const std::function<std::uint64_t(PartitionId)>& bytes_of,
                       std::size_t first_state, bool cold);

// Fine partitions of the largest group.
std::uint32_t LargestGroup(std::uint32_t fine_partitions, std::uint32_t partitions);

}  // namespace octavo
