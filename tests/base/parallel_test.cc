#include "base/parallel.h"

#include <atomic>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(ParallelBoth, DoesBothWithTheLoopsInThem) {
  for (const int threads : {1, 2, 4}) {
    std::atomic<std::size_t> first = 0;
    std::atomic<std::size_t> second = 0;
    WithThreads(threads, [&] {
      ParallelBoth(
          [&] { ParallelEach(0, 100, [&](std::size_t i) { first += i; }); },
          [&] { ParallelRanges(0, 1000, 7, [&](std::size_t begin, std::size_t end) { second += end - begin; }); });
    });
    EXPECT_EQ(first, 4950U);
    EXPECT_EQ(second, 1000U);
  }
}

TEST(ParallelBoth, ThrowsWhatEitherThrows) {
  const auto fine = [] {};
  const auto throws = [] { throw std::runtime_error("no"); };
  EXPECT_THROW(ParallelBoth(fine, throws), std::runtime_error);
  EXPECT_THROW(ParallelBoth(throws, fine), std::runtime_error);
}

// What is started sees what was done before, and both are done behind the call.
TEST(ParallelThen, DoesTheSecondOnceItIsStarted) {
  for (const int threads : {1, 2, 4}) {
    std::vector<std::size_t> copied(100, 0);
    std::size_t sum = 0;
    std::atomic<std::size_t> computed = 0;
    WithThreads(threads, [&] {
      ParallelThen(
          [&](absl::FunctionRef<void()> start) {
            std::atomic<std::size_t> left = copied.size();
            ParallelEach(0, copied.size(), [&](std::size_t i) {
              copied[i] = i;
              if (left.fetch_sub(1) == 1) start();
              ++computed;
            });
          },
          [&] { sum = std::accumulate(copied.begin(), copied.end(), std::size_t{0}); });
    });
    EXPECT_EQ(sum, 4950U);
    EXPECT_EQ(computed, 100U);
  }
}

TEST(ParallelThen, DoesNoSecondThatIsNotStarted) {
  bool second = false;
  ParallelThen([](absl::FunctionRef<void()>) {}, [&] { second = true; });
  EXPECT_FALSE(second);
}

TEST(ParallelThen, ThrowsWhatEitherThrows) {
  const auto throws = [] { throw std::runtime_error("no"); };
  EXPECT_THROW(ParallelThen([](absl::FunctionRef<void()> start) { start(); }, throws), std::runtime_error);
  const auto start_and_throw = [&](absl::FunctionRef<void()> start) {
    start();
    throws();
  };
  EXPECT_THROW(ParallelThen(start_and_throw, [] {}), std::runtime_error);
}

TEST(ParallelEach, CallsEachOnce) {
  std::atomic<std::size_t> calls[50] = {};
  ParallelEach(0, 50, [&](std::size_t i) { ++calls[i]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace octavo
