#include "bench/rate.h"

#include <algorithm>
#include <array>
#include <thread>

#include "gtest/gtest.h"

namespace octavo {
namespace {

constexpr double kThreeRounds = 3;  // one second each, after half a second of warm-up

double NoTimeOnTheWall() { return 0; }

TEST(CallsPerSecond, ReturnsTheMiddleOfThreeRounds) {
  // The times of the calls: warm-up, then rounds of 4, 2 and 8 calls.
  constexpr std::array<double, 16> kSeconds = {0.25,  0.25,  0.25,  0.25,  0.25,  0.25,  0.5,   0.5,
                                               0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125};
  double time = 100;
  std::uint64_t calls = 0;
  const auto work = [&](std::uint64_t i) {
    EXPECT_EQ(i, calls++);
    time += kSeconds.at(i);
  };
  const auto now = [&] { return time; };
  EXPECT_EQ(CallsPerSecond(kThreeRounds, work, now, NoTimeOnTheWall), 4);
  EXPECT_EQ(calls, kSeconds.size());
}

TEST(CallsPerSecond, EndsARoundAfterFourTimesItsSecondsOnTheWall) {
  double time = 0;
  double wall = 100;
  int calls = 0;
  const auto work = [&](std::uint64_t) {
    ++calls;
    time += 0.125;
    wall += 1;
  };
  const auto now = [&] { return time; };
  const auto on_the_wall = [&] { return wall; };
  EXPECT_EQ(CallsPerSecond(kThreeRounds, work, now, on_the_wall), 8);
  EXPECT_EQ(calls, 2 + 3 * 4);
}

TEST(IdleCallsPerSecond, CountsTheTimeOfAllProcessorsOfTheThreads) {
  for (const int threads : {1, 2}) {
    double time = 0;
    int calls = 0;
    const auto work = [&](std::uint64_t) {
      ++calls;
      time += 0.25;
    };
    const auto now = [&] { return time; };
    const double processors = ProcessorsOf(threads);
    EXPECT_EQ(IdleCallsPerSecond(threads, kThreeRounds, work, now, NoTimeOnTheWall), 4 * processors);
    EXPECT_EQ(calls, (2 + 3 * 4) * processors);
  }
}

TEST(ProcessorsOf, HasNoMoreThanTheMachine) {
  EXPECT_EQ(ProcessorsOf(1), 1);
  EXPECT_EQ(ProcessorsOf(1 << 20), std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace octavo
