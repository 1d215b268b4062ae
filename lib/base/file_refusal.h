// Keeps functions of libraries from making files that nobody asked for.
#pragma once

#include <functional>

namespace octavo {

// Runs `function` as RunOnDeepStack does (base/deep_stack.h), but its thread cannot create files: open with O_CREAT
// fails with EACCES. That is not enforced where no thread can be started, or the system has no seccomp filters.
bool RunWithoutNewFiles(const std::function<void()>& function);

}  // namespace octavo
