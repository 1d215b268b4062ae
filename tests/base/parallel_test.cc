#include "base/parallel.h"

#include <atomic>
#include <cstddef>
#include <stdexcept>

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

TEST(ParallelEach, CallsEachOnce) {
  std::atomic<std::size_t> calls[50] = {};
  ParallelEach(0, 50, [&](std::size_t i) { ++calls[i]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace octavo
