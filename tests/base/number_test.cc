#include "base/number.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(ParseWholeNumber, TakesDigitsOnly) {
  EXPECT_EQ(ParseWholeNumber("0"), 0U);
  EXPECT_EQ(ParseWholeNumber("007"), 7U);
  EXPECT_EQ(ParseWholeNumber("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", " ", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "18446744073709551616", "ten"}) {
    EXPECT_FALSE(ParseWholeNumber(text).has_value()) << text;
  }
}

TEST(ParseRealNumber, TakesFiniteNumbersOnly) {
  EXPECT_EQ(ParseRealNumber("0.5"), 0.5);
  EXPECT_EQ(ParseRealNumber("-3"), -3.0);
  EXPECT_EQ(ParseRealNumber("1e-3"), 1e-3);
  EXPECT_EQ(ParseRealNumber(".5"), 0.5);
  for (const char* text : {"", " ", "nan", "inf", "-inf", "1e400", "0.5 ", " 0.5", "+1", "1,5", "0x1p3", "1.2.3"}) {
    EXPECT_FALSE(ParseRealNumber(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace octavo
