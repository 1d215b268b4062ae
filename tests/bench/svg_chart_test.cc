#include "bench/svg_chart.h"

#include <cmath>
#include <limits>
#include <regex>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::vector<double>> Numbers(const std::string& svg, const std::string& element) {
  const std::regex expression(element);
  std::vector<std::vector<double>> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), expression), end; at != end; ++at) {
    std::vector<double>& numbers = found.emplace_back();
    for (std::size_t i = 1; i < at->size(); ++i) numbers.push_back(std::stod((*at)[i]));
  }
  return found;
}

// x, y, width, height
std::vector<std::vector<double>> BarsOf(const std::string& svg) {
  return Numbers(svg, R"re(<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" [^>]*class="bar")re");
}

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

TEST(XmlText, LeavesNothingThatXmlDoesNotAllow) {
  EXPECT_EQ(XmlText("a < b & c > d"), "a &lt; b &amp; c &gt; d");
  EXPECT_THAT(XmlText("\""), HasSubstr("&quot;"));
  EXPECT_EQ(XmlText("\x01\xFF"), "\\x01\\xFF");
  EXPECT_EQ(XmlText("\u00e4\uFFFE\uFFFF"), "\u00e4\uFFFD\uFFFD");
}

TEST(ToSvg, BarsAreAsHighAsTheirValues) {
  const std::string svg =
      ToSvg({.title = "t",
             .bar_charts = {
                 {.title = "b", .y_axis = "y", .groups = {"one", "two"}, .bars = {{"x", {1, 2}}, {"z", {4, 0}}}}}});
  const auto bars = BarsOf(svg);  // by groups
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_NEAR(bars[0][3] * 4, bars[1][3], 0.5);
  EXPECT_NEAR(bars[0][3] * 2, bars[2][3], 0.5);
  EXPECT_EQ(bars[3][3], 0);
  const double bottom = bars[0][1] + bars[0][3];
  double right = 0;
  for (const auto& bar : bars) {
    EXPECT_NEAR(bar[1] + bar[3], bottom, 0.2);
    EXPECT_GE(bar[0], right);  // side by side
    right = bar[0] + bar[2];
  }
}

TEST(ToSvg, LinesStandAtLogarithmicPlaces) {
  const std::string svg = ToSvg({.title = "t",
                                 .line_charts = {{.title = "l",
                                                  .x_axis = "x",
                                                  .y_axis = "y",
                                                  .lines = {{"a", {{1, 10}, {2, 20}, {4, 0}}},
                                                            {.name = "d", .points = {{1, 5}}, .dashed = true}}}}});
  const auto points = Numbers(svg, R"re(<circle cx="([\d.]+)" cy="([\d.]+)")re");
  ASSERT_EQ(points.size(), 3U);  // none of the dashed line
  EXPECT_NEAR(points[1][0] - points[0][0], points[2][0] - points[1][0], 0.2);
  EXPECT_NEAR(points[2][1] - points[0][1], points[0][1] - points[1][1], 0.2);
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray"));
}

TEST(ToSvg, SurvivesValuesThatAreNone) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string svg = ToSvg(
      {.title = "",
       .notes = {"", std::string(300, 'x')},
       .line_charts = {{.title = "", .x_axis = "", .y_axis = ""},
                       {.title = "", .x_axis = "", .y_axis = "", .lines = {{"n", {{0, nan}, {-1, 2}, {3, infinity}}}}}},
       .bar_charts = {
           {.title = "", .y_axis = ""},
           {.title = "", .y_axis = "", .groups = {"g"}, .bars = {{"n", {nan}}, {"i", {infinity}}, {"e", {}}}}}});
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(BarsOf(svg).size(), 2U);
}

}  // namespace
}  // namespace octavo
