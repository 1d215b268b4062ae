#include "base/float_rows.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(FillFloats, FillsEachAndNoOther) {
  for (std::size_t count = 0; count < 70; ++count) {
    std::vector<float> numbers(count + 1, 7.0F);
    FillFloats(count, -0.0F, numbers.data());
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(numbers[i] == 0 && std::signbit(numbers[i]));
    EXPECT_EQ(numbers[count], 7.0F);
  }
}

TEST(AddFloats, AddsEachAndNoOther) {
  for (std::size_t count = 0; count < 37; ++count) {
    std::vector<float> addends(37), sums(37);
    for (std::size_t i = 0; i < 37; ++i) {
      addends[i] = 0.1F * static_cast<float>(i) + 1;
      sums[i] = 0.3F * static_cast<float>(i);
    }
    const std::vector<float> before = sums;
    AddFloats(count, addends.data(), sums.data());
    for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(sums[i], i < count ? before[i] + addends[i] : before[i]);
  }
}

TEST(AllFinite, FindsEveryInfinityAndNan) {
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    for (std::size_t at = 0; at < 37; ++at) {
      std::vector<float> row(37, std::numeric_limits<float>::max());
      EXPECT_TRUE(AllFinite(row));
      row[at] = bad;
      EXPECT_FALSE(AllFinite(row)) << at;
    }
  }
  EXPECT_TRUE(AllFinite({}));
}

}  // namespace
}  // namespace octavo
