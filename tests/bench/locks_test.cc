#include "bench/locks.h"

#include "gtest/gtest.h"
#include "tests/bench/short.h"

namespace octavo {
namespace {

TEST(MeasureLocks, HasEachKindForEachNumberOfThreads) {
  const LockReport report = MeasureLocks(3, kShortSeconds);
  EXPECT_EQ(report.rates.size(), 3U * 2 * 6);  // 1, 2 and 3 threads
  for (const LockRate& rate : report.rates) EXPECT_GT(rate.updates_per_second, 0) << rate.locks;
}

TEST(MeasureLocks, TellsTheShareOfATraining) {
  const LockReport report = MeasureLocks(1, kShortSeconds);
  const LockShare& share = report.share;
  EXPECT_GE(share.seconds_a_row, 0);
  EXPECT_LT(share.seconds_a_row, 1e-5);
  EXPECT_EQ(share.locked_rows_an_edge, 6);  // 2 nodes and 2 x 512 / 256 negatives, updated
  EXPECT_GT(share.seconds_an_edge, 0);
  const double locked = share.seconds_a_row * 6;
  EXPECT_NEAR(share.of_training * (locked + share.seconds_an_edge), locked, 1e-15);
}

}  // namespace
}  // namespace octavo
