#include "export/element_types.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/status.h"

namespace octavo {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of a finite half, by the formula of IEEE 754.
float ValueOf(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1F;
  const int mantissa = half & 0x3FF;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                        : std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return half >> 15 != 0 ? -magnitude : magnitude;
}

// Each half, each midpoint between two of them, and the floats on both sides of it.
TEST(HalfOf, IsTheNearestAndTiesAreEven) {
  for (std::uint16_t half = 0; half < 0x7C00; ++half) {
    const auto next = static_cast<std::uint16_t>(half + 1);  // infinity comes after the largest one
    const float value = ValueOf(half);
    const float above = half == 0x7BFF ? 65'536.0F : ValueOf(next);
    const float middle = (value + above) / 2;  // exact: it has 12 bits
    EXPECT_EQ(HalfOf(value), half);
    EXPECT_EQ(HalfOf(-value), half | 0x8000);
    EXPECT_EQ(HalfOf(middle), half % 2 == 0 ? half : next) << middle;
    EXPECT_EQ(HalfOf(-middle), (half % 2 == 0 ? half : next) | 0x8000) << middle;
    EXPECT_EQ(HalfOf(std::nextafter(middle, 0.0F)), half) << middle;
    EXPECT_EQ(HalfOf(std::nextafter(middle, kInfinity)), next) << middle;
  }
}

TEST(HalfOf, ZerosInfinitiesAndNans) {
  EXPECT_EQ(HalfOf(0.0F), 0x0000);
  EXPECT_EQ(HalfOf(-0.0F), 0x8000);
  EXPECT_EQ(HalfOf(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(HalfOf(kInfinity), 0x7C00);
  EXPECT_EQ(HalfOf(-kInfinity), 0xFC00);
  EXPECT_EQ(HalfOf(std::numeric_limits<float>::max()), 0x7C00);
  for (const std::uint32_t nan : {0x7FC0'0000U, 0x7F80'0001U, 0xFFFF'FFFFU, 0xFF80'2000U}) {
    const std::uint16_t half = HalfOf(std::bit_cast<float>(nan));
    EXPECT_EQ(half & 0x7C00, 0x7C00);
    EXPECT_NE(half & 0x03FF, 0) << nan;
    EXPECT_EQ(half >> 15, nan >> 31);
  }
}

TEST(Quantize, NoValueIsOffByMoreThanHalfAStep) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  constexpr float kHuge = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> rows = {
      {1.0F, -0.5F, 0.001F}, {127.0F, 0.5F, 1.5F, -2.5F}, {kTiny, 0.0F},          {3 * kTiny, -200 * kTiny},
      {-kHuge, kHuge / 3},   {0.1F, 0.3F, -0.7F},         {1e-38F, -1e-39F, 0.0F}};
  for (const std::vector<float>& row : rows) {
    std::vector<std::int8_t> q(row.size());
    const float scale = Quantize(row, q);
    double largest_q = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double value = static_cast<double>(q[i]) * static_cast<double>(scale);
      EXPECT_LE(std::abs(value - static_cast<double>(row[i])), static_cast<double>(scale) / 2) << row[i];
      largest_q = std::max(largest_q, std::abs(static_cast<double>(q[i])));
    }
    if (std::abs(row[0]) > 1e-30F) {
      EXPECT_EQ(largest_q, 127);
    }
  }
  std::vector<std::int8_t> q(4);
  Quantize(rows[1], q);
  EXPECT_EQ(q, (std::vector<std::int8_t>{127, 0, 2, -2}));  // ties to even
}

TEST(Quantize, ZerosStay) {
  std::vector<std::int8_t> q = {1, 2};
  EXPECT_EQ(Quantize(std::vector<float>{0.0F, -0.0F}, q), 0.0F);
  EXPECT_EQ(q, (std::vector<std::int8_t>{0, 0}));
}

TEST(VectorElement, NamesAndTypes) {
  EXPECT_EQ(NpyTypeOf(*ParseVectorElement("float32")), "<f4");
  EXPECT_EQ(NpyTypeOf(*ParseVectorElement("float16")), "<f2");
  EXPECT_EQ(NpyTypeOf(*ParseVectorElement("int8")), "|i1");
  EXPECT_EQ(ElementBytes(VectorElement::kFloat16), 2U);
  EXPECT_EQ(KindOf(ParseVectorElement("int4").status()), ErrorKind::kUsage);
}

}  // namespace
}  // namespace octavo
