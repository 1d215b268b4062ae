#include "bench/prefetch.h"

#include "gtest/gtest.h"
#include "tests/bench/short.h"

namespace octavo {
namespace {

TEST(MeasurePrefetch, NothingIsFasterThanIdeal) {
  for (const PrefetchRow& row : MeasurePrefetch(kShortSeconds)) {
    EXPECT_NEAR(row.fetch_seconds + row.compute_seconds, 4e-3, 1e-9);
    EXPECT_GE(row.double_buffered_seconds, 0.999 * row.ideal_seconds);
    EXPECT_GE(row.serial_seconds, row.ideal_seconds);
  }
}

}  // namespace
}  // namespace octavo
