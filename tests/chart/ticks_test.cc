#include "chart/ticks.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(NiceTicks, AreOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_THAT(NiceTicks(10, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(NiceTicks(6, 6), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(NiceTicks(24.9, 5), ElementsAre(0, 5, 10, 15, 20));
  EXPECT_THAT(NiceTicks(0.3, 3),
              ElementsAre(0, DoubleNear(0.1, 1e-12), DoubleNear(0.2, 1e-12), DoubleNear(0.3, 1e-12)));
}

TEST(NiceTicks, CoverEachRangeAndAreNeitherFewNorMany) {
  for (double high = 1e-9; high < 1e12; high *= 1.37) {
    for (const int most : {1, 4, 6, 10}) {
      const std::vector<double> ticks = NiceTicks(high, most);
      EXPECT_EQ(ticks.front(), 0);
      EXPECT_LE(ticks.back(), high * 1.001);
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(most) + 1) << high;
      EXPECT_GE(static_cast<double>(ticks.size()) - 1, std::floor(most / 2.5)) << high << " " << most;
    }
  }
}

TEST(TicksBetween, AreMultiplesOfTheirStepWithinTheRange) {
  EXPECT_THAT(TicksBetween(0, 10, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(TicksBetween(1.9, 3.6, 5), ElementsAre(2, 2.5, 3, 3.5));
  EXPECT_THAT(TicksBetween(-1, 1, 2), ElementsAre(-1, 0, 1));
  EXPECT_THAT(TicksBetween(1, 3, 8), ElementsAre(1, DoubleNear(1.5, 1e-12), 2, DoubleNear(2.5, 1e-12), 3));
  EXPECT_THAT(TicksBetween(1, 3, 8, /*whole=*/true), ElementsAre(1, 2, 3));
  EXPECT_THAT(TicksBetween(2, 2, 8), ElementsAre());
  EXPECT_FALSE(std::signbit(TicksBetween(0, 10, 6)[0]));
  // Steps below the resolution of a double of that size.
  const double loss = 0.6931471805599453;
  EXPECT_LE(TicksBetween(loss, std::nextafter(std::nextafter(loss, 1), 1), 6).size(), 7U);
}

TEST(TickTexts, TellTheTicksApart) {
  EXPECT_THAT(TickTexts({0, 0.5, 1}), ElementsAre("0.0", "0.5", "1.0"));
  EXPECT_THAT(TickTexts({2.502, 2.504, 2.506}), ElementsAre("2.502", "2.504", "2.506"));
  EXPECT_THAT(TickTexts({0, 20, 40}), ElementsAre("0", "20", "40"));
  EXPECT_THAT(TickTexts({0, 2000, 4000}), ElementsAre("0", "2,000", "4,000"));
  EXPECT_THAT(TickTexts({0.25}), ElementsAre("0.25"));
  EXPECT_THAT(TickTexts({}), ElementsAre());
}

TEST(ShortNumber, HasThreeDigitsOrAWholeNumber) {
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(0.05), "0.05");
  EXPECT_EQ(ShortNumber(2.5), "2.5");
  EXPECT_EQ(ShortNumber(218.04), "218");
  EXPECT_EQ(ShortNumber(999.6), "1,000");
  EXPECT_EQ(ShortNumber(1250), "1,250");
  EXPECT_EQ(ShortNumber(312500), "312,500");
  EXPECT_EQ(ShortNumber(-312500), "-312,500");
  EXPECT_EQ(ShortNumber(999999.7), "1 M");
  EXPECT_EQ(ShortNumber(1.25e6), "1.25 M");
  EXPECT_EQ(ShortNumber(999.6e6), "1 G");
  EXPECT_EQ(ShortNumber(std::nan("")), "-");
}

}  // namespace
}  // namespace octavo
