#include "bench/locks.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

constexpr double kShort = 0.01;  // speed is measured, not asserted

TEST(MeasureLocks, HasEachKindForEachNumberOfThreads) {
  const auto rates = MeasureLocks(2, kShort);
  EXPECT_EQ(rates.size(), 2U * 2 * 6);
  for (const LockRate& rate : rates) EXPECT_GT(rate.updates_per_second, 0) << rate.locks;
}

}  // namespace
}  // namespace octavo
