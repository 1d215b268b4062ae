// Runs functions of libraries that need more stack than `ulimit -s` may give a thread.
#pragma once

#include <functional>

namespace octavo {

// Whether a thread may have less than 1 MiB of stack. Constant.
bool StacksAreSmall();

// Takes address space for half a megabyte of this thread's stack: later it may be short (ulimit -v), and a stack that
// cannot grow is a crash. REQUIRES: !StacksAreSmall()
void ReserveStack();

// Runs `function` with a stack of 8 MiB, whatever `ulimit -s` says, and waits for it: on its own thread, or on this one
// if none can be started. It must not throw. Returns false, and does not run it, if there is no memory for the stack.
bool RunOnDeepStack(const std::function<void()>& function);

}  // namespace octavo
