#include "base/duration.h"

#include <limits>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(DurationText, HasTheUnitThatFits) {
  EXPECT_EQ(DurationText(0), "0.0 s");
  EXPECT_EQ(DurationText(99.94), "99.9 s");
  EXPECT_EQ(DurationText(99.95), "1:40 min");
  EXPECT_EQ(DurationText(346), "5:46 min");
  EXPECT_EQ(DurationText(5999.4), "99:59 min");
  EXPECT_EQ(DurationText(5999.6), "1:40 h");
  EXPECT_EQ(DurationText(7529), "2:05 h");
  EXPECT_EQ(DurationText(1e300), "277777777777:47 h");
  EXPECT_EQ(DurationText(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(DurationText(std::numeric_limits<double>::quiet_NaN()), "-");
}

}  // namespace
}  // namespace octavo
