// Runs functions of libraries that need more stack than `ulimit -s` may give a thread.
#pragma once

#include <functional>

namespace octavo {

// Whether a thread may have less than 1 MiB of stack. Constant.
bool StacksAreSmall();

// Runs `function` on its own thread with a stack of 8 MiB, whatever `ulimit -s` says, and waits for it. Returns false,
// and does not run it, if no thread can be started.
bool RunOnDeepStack(const std::function<void()>& function);

}  // namespace octavo
