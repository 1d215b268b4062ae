// Signals. The first SIGINT, SIGTERM or SIGHUP asks the running command to end in an orderly way. A second one, of any
// of the three, ends it at once; within half a second it is the same request. SIGUSR1 asks a training for a commit.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "cmd/program.h"

namespace octavo {

// Catches the three signals from now on, except those that the caller ignores (nohup). For a verb that can end in
// an orderly way.
void CatchInterrupts();

// Catches SIGUSR1 and returns the flag that it sets; whoever fulfils the request clears the flag. Valid as long as the
// program runs.
std::atomic<bool>& CatchCommitRequests();

// Catches SIGUSR1 as one of the three signals.
void CatchStopRequests();

// True after a signal. Any thread; cheap.
bool Interrupted();

// The number of the signal, or 0. Valid as long as the program runs.
const std::atomic<int>& InterruptSignal();

// The exit code for the signal: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP, 138 for SIGUSR1; also 138 if another
// rank got the signal.
int InterruptExitCode();
// "SIGINT", "SIGTERM", "SIGHUP" or "SIGUSR1", or "another rank".
std::string_view InterruptName();

// For a verb that can end at once, because its files become visible only when complete: catches the three signals.
// During its lifetime the first one ends the program at once, with a warning that `target` was not made and its exit
// code, and removes the partial files of its outputs. One at a time.
class EndOnInterrupt {
 public:
  EndOnInterrupt(Program& program, std::string target);
  ~EndOnInterrupt();
  EndOnInterrupt(const EndOnInterrupt&) = delete;
  EndOnInterrupt& operator=(const EndOnInterrupt&) = delete;

  // From now on the warning does not say that.
  void Made() { made_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> made_ = false;
  std::thread thread_;
};

// Whether a signal caused `status`. If so, warns of the fate of `target` and sets the exit code.
bool EndedByInterrupt(Program& program, const absl::Status& status, std::string_view target,
                      std::string_view fate = "was not made");

}  // namespace octavo
