// SIGINT and SIGTERM: the first one asks the running command to end in order, the second one ends it at once.
#pragma once

#include <atomic>

namespace octavo {

// Catches both signals from here on. To be called once, by the verb that knows how to end in order.
void CatchInterrupts();

// True once a signal came. Any thread; cheap.
bool Interrupted();

// The number of the signal that came, or 0. Lives as long as the program.
const std::atomic<int>& InterruptSignal();

// The exit code for the signal that came: 130 for SIGINT, 143 for SIGTERM. REQUIRES: Interrupted()
int InterruptExitCode();

}  // namespace octavo
