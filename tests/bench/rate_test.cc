#include "bench/rate.h"

#include <chrono>
#include <thread>

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

// What waits takes none of the processor's time: 500 calls a second at most, and far more a second of that.
TEST(CallsPerSecond, CountsSecondsOfTheClock) {
  const auto wait = [](std::uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  EXPECT_LE(CallsPerSecond(kShort, wait), 500);
  EXPECT_GT(CallsPerSecond(kShort / 10, wait, ProcessorSeconds), 1000);
}

}  // namespace
}  // namespace octavo
