// Threads that ask for their values at one time, for the thread sanitizer.
#include <atomic>
#include <cstddef>
#include <vector>

#include "base/parallel.h"
#include "base/per_thread.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

// Threads that make tables for the same first values give one of them back. With TBB's allocator the next thread got
// its memory, and the sanitizer saw a race.
TEST(PerThreadRace, FirstValuesOfManyThreads) {
  for (int round = 0; round < 1'000; ++round) {
    PerThread<std::vector<std::size_t>> values;
    std::atomic<int> ready{0};  // relaxed: it orders nothing
    ParallelEach(0, 4, [&](std::size_t i) {
      ready.fetch_add(1, std::memory_order_relaxed);
      for (int spins = 0; spins < 20'000 && ready.load(std::memory_order_relaxed) < 4; ++spins) {
      }
      values.local().push_back(i);
    });
    std::size_t count = 0;
    for (const std::vector<std::size_t>& list : values) count += list.size();
    ASSERT_EQ(count, 4);
  }
}

}  // namespace
}  // namespace octavo
