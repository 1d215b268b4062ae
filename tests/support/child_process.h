// Runs a part of a test in another process, which may be killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "gtest/gtest.h"

namespace octavo {

// How a child ended. It was killed if signal is not 0.
struct ChildEnd {
  int code = 0;
  int signal = 0;
};

inline ChildEnd WaitForChild(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  if (WIFSIGNALED(status)) return {.code = -1, .signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status), .signal = 0};
}

// Forks; the child ends with what `body` returns, without running destructors or handlers of the test program. A child
// has one thread, so the parent must not hold locks of other threads: fork before starting any.
inline pid_t StartChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::_exit(body());
}

inline ChildEnd RunChild(const std::function<int()>& body) { return WaitForChild(StartChild(body)); }

}  // namespace octavo
