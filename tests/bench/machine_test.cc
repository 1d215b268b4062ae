#include "bench/machine.h"

#include "gtest/gtest.h"
#include "tests/bench/short.h"

namespace octavo {
namespace {

TEST(GemmPeak, IsMeasured) {
  for (const RateClock clock : {RateClock::kWall, RateClock::kProcessor})
    EXPECT_GT(GemmPeak(1, kShortSeconds, clock), 0);
}

TEST(MemoryBandwidth, IsMeasured) { EXPECT_GT(MemoryBandwidth(1, kShortSeconds), 0); }

}  // namespace
}  // namespace octavo
