// A thread that does one item of work at a time in the background. Blocking reads do not belong on TBB's workers.
//
//   state   Start      the work returns   Take
//   idle    -> busy                       error
//   busy    error      -> done            waits, then as done
//   done    error                         -> idle, returns the status of the work
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"

namespace octavo {

// One user thread calls everything. The work runs on the task's thread, or on the user's in Run, never on two at once.
// An exception of the work becomes an error status. Destruction waits for work under way.
class BackgroundTask {
 public:
  using Work = std::function<absl::Status(std::uint64_t item)>;

  explicit BackgroundTask(Work work);
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Calls Discard, then works on `item` on this thread, which counts as a stall.
  absl::Status Run(std::uint64_t item);

  // Starts to work on `item` and returns at once. An error if an item was started and not taken.
  absl::Status Start(std::uint64_t item);
  // Waits for the started item, which counts as a stall, and returns its status. An error if none was started.
  absl::Status Take();
  // Waits for work under way and leaves its status to Take. Returns that status, OK if nothing was started.
  absl::Status Wait();
  // Waits for work under way and forgets it.
  void Discard();

  // Whether Take would return without waiting.
  bool Done() const;

  // Seconds of work on either thread, and of stalls, since the last call.
  std::pair<double, double> TakeWorkAndStallSeconds();

 private:
  enum class State { kIdle, kBusy, kDone };

  absl::Status GuardedWork(std::uint64_t item) const;
  void RunThread();

  const Work work_;
  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t item_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  double work_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  double stall_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace octavo
