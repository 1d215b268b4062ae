// The plans of a training in lanes (plan/lane_schedule.h): what each lane trains in each round, and which fine
// partitions are in memory when.
//
// The plan of an epoch is one sequence of states, round by round and in a round lane by lane. Lanes of a round have no
// fine partition in common, so their turns may be trained in any order, or at the same time in several places, with the
// same result: everything that a batch draws at random depends on its place in this sequence only.
//
// A lane divides the fine partitions of its two groups into `shape.partitions` partitions, `shape.resident` of which
// are in memory, in the usual order of buckets. States without a cell to train are left out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "graph/cell_reader.h"
#include "plan/bucket_order.h"
#include "plan/epoch_plan.h"
#include "plan/lane_schedule.h"

namespace octavo {

// One owner.
class LanePlanner : public EpochPlans {
 public:
  // With `hold_all`, all partitions are in memory all the time; the states and their cells are the same. Without
  // `ahead`, partitions enter when those that leave have left.
  // REQUIRES: a valid shape for the partitions of two groups
  LanePlanner(PartitionEdges edges, std::uint32_t lanes, const PartitionShape& shape, BucketOrder order,
              std::uint64_t seed, bool hold_all, bool ahead = true);

  // Depends only on the epoch and the constructor's arguments. Quick in any order of epochs.
  const EpochPlan& Plan(std::uint64_t epoch) override;

 private:
  void AddTurn(std::uint64_t epoch, std::uint32_t round, std::uint32_t lane, const LanePair& pair,
               std::vector<DraftState>& states);
  void SetExchanges(std::vector<DraftState>& states);
  static void KeepForNext(DraftState& state, const std::vector<PartitionId>& needed);

  const PartitionEdges edges_;
  const std::uint32_t lanes_;
  const PartitionShape shape_;
  const BucketOrder order_;
  const std::uint64_t seed_;
  const bool hold_all_;
  const bool ahead_;
  LaneGroups groups_;  // of plan_
  EpochPlan plan_;
};

// How the epochs of a training are planned.
struct PlannerSettings {
  std::uint32_t lanes = 1;
  PartitionShape shape;  // of a lane, if there are several
  BucketOrder order = BucketOrder::kBeta;
  std::uint64_t seed = 0;
  std::uint64_t first_epoch = 0;  // of this shape
  bool hold_all = false;          // with lanes: all tables are in memory
  bool ahead = true;              // partitions may enter while the previous state trains
};

// Plans for a graph whose training edges are `cells`. Their counts also balance the lanes where something else is
// trained, such as the pairs of walks, which meet a node about as often as edges do.
std::unique_ptr<EpochPlans> MakeEpochPlans(const CellReader& cells, const PlannerSettings& settings);

}  // namespace octavo
