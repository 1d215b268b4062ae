#include "base/deep_stack.h"

#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"
#include "tests/support/child_process.h"

namespace octavo {
namespace {

TEST(DeepStack, HasEightMebibytesWhateverTheLimit) {
  const ChildEnd end = RunChild([] {
    const rlimit small{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    if (::setrlimit(RLIMIT_STACK, &small) != 0 || !StacksAreSmall()) return 2;
    int touched = 0;
    const bool ran = RunOnDeepStack([&] {
      volatile char space[6 << 20];
      for (std::size_t i = 0; i < sizeof(space); i += 4096) space[i] = 1;
      touched = space[0];
    });
    return ran && touched == 1 ? 0 : 1;
  });
  EXPECT_EQ(end.code, 0) << end.signal;
}

// A query ended with SIGSEGV where the address space was used up and a product took its panel from the stack.
TEST(DeepStack, ReservedStackIsThereWithoutAddressSpace) {
  const ChildEnd end = RunChild([] {
    ReserveStack();
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if (::setrlimit(RLIMIT_AS, &none) != 0) return 2;
    volatile char space[400 << 10];
    for (std::size_t i = sizeof(space); i > 4096; i -= 4096) space[i - 1] = 1;
    return space[sizeof(space) - 1] == 1 ? 0 : 1;
  });
  EXPECT_EQ(end.code, 0) << end.signal;
}

// A query ended with SIGSEGV where the stack was small and no thread could be started (ulimit -s 128 -u 1).
TEST(DeepStack, IsThereWithoutThreads) {
  const ChildEnd end = RunChild([] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    constexpr uid_t kNobody = 65534;  // the limit does not concern root
    if (::setrlimit(RLIMIT_NPROC, &none) != 0 || (::getuid() == 0 && ::setuid(kNobody) != 0)) return 2;
    bool on_this_thread = false;
    const std::thread::id here = std::this_thread::get_id();
    const bool ran = RunOnDeepStack([&] {
      volatile char space[6 << 20];
      for (std::size_t i = 0; i < sizeof(space); i += 4096) space[i] = 1;
      on_this_thread = std::this_thread::get_id() == here;
    });
    return ran && on_this_thread ? 0 : 1;
  });
  EXPECT_EQ(end.code, 0) << end.signal;
}

}  // namespace
}  // namespace octavo
