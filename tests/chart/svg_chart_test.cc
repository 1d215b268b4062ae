#include "chart/svg_chart.h"

#include <cmath>
#include <limits>
#include <regex>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

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
