#include "base/deep_stack.h"

#include <pthread.h>
#include <sys/resource.h>

#include <cstddef>

namespace octavo {
namespace {

constexpr std::size_t kDeepBytes = std::size_t{8} << 20;
constexpr rlim_t kSmallBytes = rlim_t{1} << 20;

void* Call(void* function) {
  (*static_cast<const std::function<void()>*>(function))();
  return nullptr;
}

}  // namespace

bool StacksAreSmall() {
  static const bool small = [] {
    rlimit limit{};
    return ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kSmallBytes;
  }();
  return small;
}

bool RunOnDeepStack(const std::function<void()>& function) {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread{};
  const bool started = ::pthread_attr_setstacksize(&attributes, kDeepBytes) == 0 &&
                       ::pthread_create(&thread, &attributes, Call, const_cast<std::function<void()>*>(&function)) == 0;
  ::pthread_attr_destroy(&attributes);
  return started && ::pthread_join(thread, nullptr) == 0;
}

}  // namespace octavo
