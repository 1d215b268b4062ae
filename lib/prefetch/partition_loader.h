// Keeps the partitions of the current state of the plan in memory, and exchanges those of the next state meanwhile.
//
//   state s trains          | s + 1 trains
//   loads what s + 1 adds   | writes back what s + 1 no longer has, then loads what s + 2 adds
//
// So in addition to the state's partitions, at most one group is in memory: the one being loaded or the one being
// evicted. Where the plan lets nothing enter ahead, the exchange takes place between the two states: what leaves goes
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "plan/epoch_plan.h"
#include "prefetch/background_task.h"

namespace octavo {

// One user thread. Loading and evicting happen in the background or inside the calls, never on two threads at once.
// Call Wait before anything else uses the same tables.
class PartitionLoader {
 public:
  using Move = std::function<absl::Status(PartitionId)>;

  // `load` brings a partition into memory, `evict` frees it.
  PartitionLoader(Move load, Move evict);

  // Makes `state` of `plan`, which must outlive the epoch, the current state and waits until its partitions are in
  // memory. Partitions of an earlier plan that it does not need are evicted. Starts the exchange for the next state.
  absl::Status Begin(const EpochPlan& plan, std::size_t state);
  // What the last Begin had to load, ascending: nothing if the previous epoch left its partitions in memory.
  const std::vector<PartitionId>& first_loads() const { return first_loads_; }
  // Evicts at once all partitions but those of `kept`, ascending, before the next Begin or Advance.
  absl::Status Leave(std::span<const PartitionId> kept);
  // Makes the next state current: waits for its partitions and starts the exchange for the state after it. REQUIRES:
  // Begin; a next state
  absl::Status Advance();

  // Waits for an exchange under way, so that until the next call only the user's thread uses the tables. Returns its
  // error, which Advance will return too. The partitions of the current state are in memory, except after a failed
  // Advance to a state without `ahead`.
  absl::Status Wait() { return exchanges_.Wait(); }

  // Seconds spent loading and evicting, on any thread, and waiting for it, since the last call.
  std::pair<double, double> TakeFetchAndStallSeconds() { return exchanges_.TakeWorkAndStallSeconds(); }

 private:
  // Evicts `leaving_`, then loads the partitions of `target` that are not in memory.
  absl::Status MoveTo(std::span<const PartitionId> target);
  absl::Status StartNext();

  const Move load_;
  const Move evict_;
  const EpochPlan* plan_ = nullptr;
  std::size_t state_ = 0;
  bool asked_ = false;
  std::vector<PartitionId> first_loads_;
  // Used by an exchange while it is under way, by the user otherwise.
  std::vector<PartitionId> resident_;  // in memory, ascending; includes those of leaving_
  std::vector<PartitionId> leaving_;   // no longer needed
  BackgroundTask exchanges_;           // an item is the state to come; last: its thread uses the above
};

}  // namespace octavo
