#include "base/checked_math.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMax = UINT64_MAX;

TEST(CheckedMath, IsEmptyOnOverflowOnly) {
  EXPECT_EQ(CheckedMultiply(3, 4), 12U);
  EXPECT_EQ(CheckedMultiply(kMax, 1), kMax);
  EXPECT_EQ(CheckedMultiply(kMax, 0), 0U);
  EXPECT_FALSE(CheckedMultiply(kMax, 2).has_value());
  EXPECT_FALSE(CheckedMultiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32).has_value());
  EXPECT_EQ(CheckedAdd(kMax - 1, 1), kMax);
  EXPECT_FALSE(CheckedAdd(kMax, 1).has_value());
}

TEST(CheckedMath, RoundsUpToTheQuantum) {
  EXPECT_EQ(RoundUp(0, 1024), 0U);
  EXPECT_EQ(RoundUp(1, 1024), 1024U);
  EXPECT_EQ(RoundUp(1024, 1024), 1024U);
  EXPECT_EQ(RoundUp(1025, 1024), 2048U);
}

}  // namespace
}  // namespace octavo
