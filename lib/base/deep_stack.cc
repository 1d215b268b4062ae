#include "base/deep_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include <cstddef>

namespace octavo {
namespace {

constexpr std::size_t kDeepBytes = std::size_t{8} << 20;
constexpr rlim_t kSmallBytes = rlim_t{1} << 20;

void* Call(void* function) {
  (*static_cast<const std::function<void()>*>(function))();
  return nullptr;
}

// What RunWithoutThread runs: makecontext passes only numbers.
thread_local const std::function<void()>* without_thread = nullptr;

// Runs the function on this thread, but on another stack.
bool RunWithoutThread(const std::function<void()>& function) {
  void* const stack = ::mmap(nullptr, kDeepBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  ucontext_t here{};
  ucontext_t there{};
  bool ran = ::getcontext(&there) == 0;
  if (ran) {
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = kDeepBytes;
    there.uc_link = &here;
    without_thread = &function;
    ::makecontext(
        &there, [] { (*without_thread)(); }, 0);
    ran = ::swapcontext(&here, &there) == 0;
  }
  ::munmap(stack, kDeepBytes);
  return ran;
}

}  // namespace

bool StacksAreSmall() {
  static const bool small = [] {
    rlimit limit{};
    return ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kSmallBytes;
  }();
  return small;
}

__attribute__((noinline)) void ReserveStack() {
  [[maybe_unused]] volatile char space[kSmallBytes / 2];
  space[0] = 0;  // one page far down: the kernel extends the stack to it
}

bool RunOnDeepStack(const std::function<void()>& function) {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread{};
  const bool started = ::pthread_attr_setstacksize(&attributes, kDeepBytes) == 0 &&
                       ::pthread_create(&thread, &attributes, Call, const_cast<std::function<void()>*>(&function)) == 0;
  ::pthread_attr_destroy(&attributes);
  return started ? ::pthread_join(thread, nullptr) == 0 : RunWithoutThread(function);
}

}  // namespace octavo
