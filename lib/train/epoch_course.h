// What one process has left to train of an epoch: the states of its lanes in their order, each with its batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/manifest.h"
#include "plan/epoch_plan.h"
#include "plan/lane_ranks.h"
#include "train/step_count.h"

namespace octavo {

// Batches [first_batch, end_batch) of the epoch, by `lane` in `round`.
struct CourseState {
  std::uint64_t first_batch = 0;
  std::uint64_t end_batch = 0;
  std::uint32_t round = 0;
  std::uint32_t lane = 0;
};

// How far an epoch is: batches done, or with several lanes the round and what each lane has done in it.
struct EpochPosition {
  std::uint64_t batches = 0;
  std::uint32_t round = 0;
  std::span<const LaneRecord> lanes = {};
};

// Constant.
class EpochCourse {
 public:
  EpochCourse() = default;
  // Of `whole`, whose states begin with the batches `first_batches` (and their number at the end), the states of
  // `lanes` from `position` on. A plan without turns is one round of one lane. With `keep_lanes` memory has room for
  // all of these lanes: what one of them needs later in the round, or in the next one, stays.
  EpochCourse(const EpochPlan& whole, std::vector<std::uint64_t> first_batches, std::uint64_t accumulate,
              const LaneRange& lanes, const EpochPosition& position, bool keep_lanes = false);

  // The states, with what leaves and enters between them; `states()` has the same length.
  const EpochPlan& plan() const { return plan_; }
  std::span<const CourseState> states() const { return states_; }
  std::uint32_t first_round() const { return first_round_; }
  std::uint32_t rounds() const { return rounds_; }
  // Batches of these states.
  std::uint64_t batches() const { return batches_; }
  // States of the whole plan that another process trains.
  std::vector<bool> Skipped() const { return skipped_; }

  // The lane that still uses each partition in the round, or kNoLane; in the first round without what was done before.
  // The course of each process brings in all partitions of its lanes.
  std::vector<std::uint32_t> UsersLeft(const EpochPlan& whole, std::uint32_t round, std::size_t partitions) const;

  // Updates after the epoch's batches before `batch`; after those of a position.
  std::uint64_t StepsBefore(std::uint64_t batch) const { return steps_.Before(batch); }
  std::uint64_t StepsBefore(const EpochPosition& position) const;

 private:
  std::uint64_t FirstBatchOf(std::uint32_t round, std::uint32_t lane) const;
  std::uint64_t DoneOf(std::uint32_t round, std::uint32_t lane) const;
  bool IsDone(std::size_t state, const LaneTurn& turn) const;
  void AddTurn(const LaneTurn& turn);
  void SetExchanges(std::vector<DraftState>& states);
  void KeepLanes(std::vector<DraftState>& states) const;
  std::vector<PartitionId> UsedIn(std::uint32_t round, const std::vector<DraftState>& states) const;

  std::vector<std::uint64_t> first_batches_;
  StepCount steps_;
  std::vector<LaneTurn> turns_;  // of the whole plan
  EpochPlan plan_;
  std::vector<CourseState> states_;
  std::vector<bool> skipped_;
  std::vector<std::uint64_t> done_;  // batches of the lanes in the first round
  std::uint32_t first_round_ = 0;
  std::uint32_t rounds_ = 1;
  std::uint64_t batches_ = 0;
};

}  // namespace octavo
