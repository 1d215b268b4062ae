// Signals. The first of SIGINT, SIGTERM and SIGHUP asks the running command to end in order, the second one, whichever
// it is, ends it at once. SIGUSR1 asks a training for a commit.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "cmd/program.h"

namespace octavo {

// Catches the three from here on, but for those that the caller ignores (nohup). To be called once, by the verb that
// knows how to end in order.
void CatchInterrupts();

// Catches SIGUSR1 and returns the flag that it sets; who has done what was asked for clears it. Lives as long as the
// program.
std::atomic<bool>& CatchCommitRequests();

// True once a signal came. Any thread; cheap.
bool Interrupted();

// The number of the signal that came, or 0. Lives as long as the program.
const std::atomic<int>& InterruptSignal();

// The exit code for the signal that came: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP. REQUIRES: Interrupted()
int InterruptExitCode();
// "SIGINT", "SIGTERM" or "SIGHUP". REQUIRES: Interrupted()
std::string_view InterruptName();

// For a verb whose files nobody has seen before they are whole, and that has nothing to end in order: catches the
// three, and while this lives the first one ends the program at once, after a warning that `target` was not made, with
// its exit code and without the partial files of its outputs. One at a time.
class EndOnInterrupt {
 public:
  EndOnInterrupt(Program& program, std::string target);
  ~EndOnInterrupt();
  EndOnInterrupt(const EndOnInterrupt&) = delete;
  EndOnInterrupt& operator=(const EndOnInterrupt&) = delete;

  // From here on the warning does not say that.
  void Made() { made_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> made_ = false;
  std::thread thread_;
};

// Whether `status` is how a work ended that a signal has stopped: then it warns that `target` was not made, and sets
// the exit code.
bool EndedByInterrupt(Program& program, const absl::Status& status, std::string_view target);

}  // namespace octavo
