#include "tables/stripe_locks.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(StripeLocks, RowsOfAGroupShareAStripe) {
  const StripeLocks locks(256);
  for (std::uint64_t group = 0; group < 1000; ++group) {
    const std::uint64_t first = group * StripeLocks::kGroupRows;
    const StripeMutex* lock = &locks.LockFor(NodeId{first});
    EXPECT_EQ(lock, &locks.LockFor(NodeId{first + StripeLocks::kGroupRows - 1}));
    EXPECT_EQ(lock, &locks.LockFor(NodeId{first + 17}));
  }
}

TEST(StripeLocks, EveryIdHasAStripe) {
  for (const std::size_t stripes : {1U, 2U, 4U, 64U, 4096U}) {
    const StripeLocks locks(stripes);
    EXPECT_EQ(locks.size(), stripes);
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{1} << 40,
                                   std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
      EXPECT_LT(locks.StripeIndex(NodeId{id}), stripes);
    }
  }
}

// A table whose rows are guarded by another table's locks has none.
TEST(StripeLocks, ThereMayBeNone) {
  const StripeLocks none(0);
  EXPECT_EQ(none.size(), 0U);
}

TEST(StripeLocks, NeighbouringGroupsSpreadOverTheStripes) {
  const StripeLocks locks(1024);
  std::set<std::size_t> used;
  for (std::uint64_t group = 0; group < 1024; ++group) {
    used.insert(locks.StripeIndex(NodeId{group * StripeLocks::kGroupRows}));
  }
  // Random placement would use 1 - 1/e of them, 647.
  EXPECT_GT(used.size(), 800U);
}

TEST(StripeLocks, EachLockHasItsOwnCacheLine) {
  const StripeLocks locks(64);
  std::set<std::uintptr_t> lines;
  for (std::uint64_t group = 0; group < 10000; ++group) {
    const auto address = reinterpret_cast<std::uintptr_t>(&locks.LockFor(NodeId{group * StripeLocks::kGroupRows}));
    EXPECT_EQ(address % 64, 0U);
    lines.insert(address / 64);
  }
  EXPECT_EQ(lines.size(), 64U);
}

TEST(StripeLocks, WritersOfOneStripeExcludeEachOther) {
  const StripeLocks locks(1);
  std::uint64_t counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 20000; ++i) {
        const WriterStripeLock lock(locks.LockFor(NodeId{i * 64 + static_cast<std::uint64_t>(t)}));
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 80000U);
}

TEST(StripeLocks, ReadersShareAndWritersSeeNone) {
  const StripeLocks locks(1);
  StripeMutex& lock = locks.LockFor(NodeId{0});
  StripeMutex& again = locks.LockFor(NodeId{0});  // a second name: the analysis rejects a reader that locks twice
  lock.ReaderLock();
  again.ReaderLock();  // would hang if readers excluded each other
  std::atomic<bool> written{false};
  std::thread writer([&] {
    const WriterStripeLock hold(locks.LockFor(NodeId{0}));
    written = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(written);
  again.ReaderUnlock();
  lock.ReaderUnlock();
  writer.join();
  EXPECT_TRUE(written);
}

}  // namespace
}  // namespace octavo
