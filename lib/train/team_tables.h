// The tables of a run that several processes train: which partitions this one holds, and when they leave it.
//
// In a round a partition belongs to the lane whose states have it. When this process has evicted it after the last of
// those states of the round that use it and that it trains, it goes to the rank whose lane has it in the next round,
// while the other states of the round are trained. Whatever has another owner at the beginning of a round is sent then.
// Rows go only to a rank that will load them in this round or the next, so each that arrives is taken over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "checkpoint/run_tables.h"
#include "plan/epoch_plan.h"
#include "train/epoch_course.h"
#include "train/partition_mover.h"
#include "train/team.h"

namespace octavo {

// Load and Evict are for the thread that exchanges partitions, all else for the training thread while no exchange is
// under way.
class TeamTables {
 public:
  // Both must outlive this.
  TeamTables(Team& team, RunTables& tables);

  // The epoch that is trained; `next` is the plan of the following one, or null if there is none. All must outlive the
  // epoch.
  void BeginEpoch(const EpochPlan& whole, const EpochPlan* next, const EpochCourse& course);
  // REQUIRES: no partition is resident that another rank has in the round
  void BeginRound(std::uint32_t round);
  // The state of the course that is trained or entered from now on.
  void Enter(std::size_t state) { state_.store(state, std::memory_order_relaxed); }

  // Loads a partition, which may have to arrive first.
  absl::Status Load(PartitionId partition);
  // Evicts a partition, and sends it if this process is done with it in the round.
  absl::Status Evict(PartitionId partition);

  // Before a commit: returns when nothing is under way between any ranks.
  absl::Status Settle();
  // Sends all partitions to rank 0, if the run is in several folders. REQUIRES: none is resident
  absl::Status BringHome();

  MovedCounts TakeCounts() { return mover_.TakeCounts(); }
  // Bytes of the rows that come from others before and between the epoch's rounds so far, and are written here. What
  // the first round of a process needs is not counted: that depends on who trained before.
  std::uint64_t planned_received() const { return planned_received_; }

 private:
  void HoldStored();
  void SendStored();

  Team& team_;
  RunTables& tables_;
  const std::size_t partitions_;
  PartitionMover mover_;
  const EpochPlan* whole_ = nullptr;
  const EpochPlan* next_ = nullptr;
  const EpochCourse* course_ = nullptr;
  bool begun_ = false;                      // a round
  std::vector<std::uint32_t> owners_;       // lanes that use the partitions next
  std::vector<std::uint32_t> next_owners_;  // and in the next
  std::uint64_t planned_received_ = 0;
  std::uint64_t between_epochs_ = 0;
  std::vector<std::size_t> last_uses_;  // 1 + the last state of the course in the round that has the partition
  std::atomic<std::size_t> state_ = 0;
};

}  // namespace octavo
