#include "bench/rate.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

constexpr double kShort = 0.01;  // speed is measured, not asserted

TEST(CallsPerSecond, CallsWithAscendingNumbers) {
  std::uint64_t expected = 0;
  const double rate = CallsPerSecond(kShort, [&](std::uint64_t i) { EXPECT_EQ(i, expected++); });
  EXPECT_GT(rate, 0);
  EXPECT_GE(expected, 4U);
}

}  // namespace
}  // namespace octavo
