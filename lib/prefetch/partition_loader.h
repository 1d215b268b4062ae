// Keeps the partitions of the plan's state in memory while it trains, and exchanges the next ones meanwhile.
//
//   state s trains          | s + 1 trains
//   loads what s + 1 adds   | writes back what s + 1 no longer has, then loads what s + 2 adds
//
// So at most one group of partitions is in memory above those of the state: the one that comes, or the one that goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "plan/epoch_plan.h"
#include "prefetch/background_task.h"

namespace octavo {

// One user thread. Loading and evicting happen in the background or inside the calls, never on two threads at once;
// what else uses the same tables calls Wait first.
class PartitionLoader {
 public:
  using Move = std::function<absl::Status(PartitionId)>;

  // `load` and `evict` bring a partition into memory and give it back. With `ahead` false nothing happens beside the
  // training: exchanges are made when they are needed.
  PartitionLoader(Move load, Move evict, bool ahead);

  // Turns to state `state` of `plan`, which must outlive the epoch, and waits until its partitions are in memory. Those
  // of an earlier plan that it does not have are given back. Starts the next state's.
  absl::Status Begin(const EpochPlan& plan, std::size_t state);
  // Whether the last Begin had to load; an epoch begins with what the one before left, and then it had not.
  bool began_cold() const { return began_cold_; }
  // Turns to the next state: waits for its partitions and starts those of the state after it.
  // REQUIRES: Begin; a next state
  absl::Status Advance();

  // Waits for an exchange under way, so that for now only the user's thread touches the tables. Returns its error,
  // which stays for Advance: the partitions of this state are in memory all the same.
  absl::Status Wait() { return exchanges_.Wait(); }

  // Seconds spent loading and evicting, on any thread, and waiting for it, since the last call.
  std::pair<double, double> TakeFetchAndStallSeconds() { return exchanges_.TakeWorkAndStallSeconds(); }

 private:
  // Gives `leaving_` back and loads what of `target` is not in memory.
  absl::Status MoveTo(const std::vector<PartitionId>& target);
  absl::Status StartNext();

  const Move load_;
  const Move evict_;
  const bool ahead_;
  const EpochPlan* plan_ = nullptr;
  std::size_t state_ = 0;
  bool asked_ = false;
  bool began_cold_ = false;
  // The exchange's while one is under way, the user's otherwise.
  std::vector<PartitionId> resident_;  // in memory, ascending; those of leaving_ among them
  std::vector<PartitionId> leaving_;   // not needed any more
  BackgroundTask exchanges_;           // an item is the state to come; last: its thread uses the above
};

}  // namespace octavo
