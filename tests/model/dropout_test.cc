#include "model/dropout.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

std::vector<float> Mask(float rate, std::uint64_t place, std::size_t size) {
  std::vector<float> mask(size);
  RandomStream stream(1, RandomPurpose::kDropout, 0, place);
  DrawDropoutMask(stream, rate, mask);
  return mask;
}

TEST(DropoutMask, DropsItsShareAndKeepsTheExpectation) {
  constexpr std::size_t kSize = 40'000;
  for (const float rate : {0.1F, 0.5F, 0.9F}) {
    std::size_t dropped = 0;
    for (const float factor : Mask(rate, 0, kSize)) {
      if (factor == 0) {
        ++dropped;
      } else {
        EXPECT_FLOAT_EQ(factor, 1 / (1 - rate));
      }
    }
    const double deviation = std::sqrt(rate * (1 - rate) * kSize);
    EXPECT_NEAR(static_cast<double>(dropped), rate * kSize, 5 * deviation) << rate;
  }
}

TEST(DropoutMask, IsAFunctionOfItsPlace) {
  EXPECT_EQ(Mask(0.5F, 7, 100), Mask(0.5F, 7, 100));
  EXPECT_NE(Mask(0.5F, 7, 100), Mask(0.5F, 8, 100));
}

TEST(DropoutMask, GoesOnWhereTheStreamStands) {
  std::vector<float> halves(100);
  RandomStream stream(1, RandomPurpose::kDropout, 0, 7);
  DrawDropoutMask(stream, 0.5F, std::span(halves).first(50));
  DrawDropoutMask(stream, 0.5F, std::span(halves).subspan(50));
  EXPECT_EQ(halves, Mask(0.5F, 7, 100));
}

}  // namespace
}  // namespace octavo
