#include "base/deep_stack.h"

#include <sys/resource.h>

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

}  // namespace
}  // namespace octavo
