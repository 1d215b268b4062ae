#include "report/figure.h"

#include <cmath>
#include <limits>
#include <regex>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::vector<double>> Numbers(const std::string& html, const std::string& element) {
  const std::regex expression(element);
  std::vector<std::vector<double>> found;
  for (std::sregex_iterator at(html.begin(), html.end(), expression), end; at != end; ++at) {
    std::vector<double>& numbers = found.emplace_back();
    for (std::size_t i = 1; i < at->size(); ++i) numbers.push_back(std::stod((*at)[i]));
  }
  return found;
}

// x, y, width, height
std::vector<std::vector<double>> Boxes(const std::string& html) {
  return Numbers(html, R"re(<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)")re");
}
std::vector<std::vector<double>> Dots(const std::string& html) {
  return Numbers(html, R"re(<circle cx="([\d.]+)" cy="([\d.]+)")re");
}

TEST(LineFigure, PointsStandAtLinearPlaces) {
  const std::string html = ToHtml(LineFigure{.title = "t", .lines = {{"a", {{1, 0}, {2, 10}, {4, 40}}}}});
  const auto dots = Dots(html);
  ASSERT_EQ(dots.size(), 3U);
  EXPECT_NEAR(2 * (dots[1][0] - dots[0][0]), dots[2][0] - dots[1][0], 0.3);
  EXPECT_NEAR(4 * (dots[0][1] - dots[1][1]), dots[0][1] - dots[2][1], 0.5);
  EXPECT_THAT(html, Not(HasSubstr("legend")));
  EXPECT_THAT(html, HasSubstr("<title>a 4: 40</title>"));
}

TEST(LineFigure, LongLinesAreThinnedAndKeepTheirEnds) {
  LineFigure figure = {.title = "t", .lines = {{.name = "a"}, {.name = "b", .style = LineFigure::Style::kBand}}};
  for (int i = 1; i <= 5000; ++i) {
    for (LineFigure::Line& line : figure.lines) line.points.emplace_back(i, i % 7);
  }
  const std::string html = ToHtml(figure);
  EXPECT_LT(html.size(), 40'000U);
  EXPECT_TRUE(Dots(html).empty());
  EXPECT_THAT(html, HasSubstr("c1 band"));
  const auto ends = Numbers(html, R"re(<polyline points="([\d.]+),[^"]* ([\d.]+),[\d.]+")re");
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_GT(ends[0][1], 490);
  EXPECT_LT(ends[0][0], 60);
}

TEST(StackFigure, LayersLieUponEachOther) {
  const auto boxes = Boxes(ToHtml(StackFigure{.title = "t", .x = {1, 2}, .layers = {{"a", {1, 2}}, {"b", {3, 0}}}}));
  ASSERT_EQ(boxes.size(), 3U);
  EXPECT_NEAR(boxes[0][1], boxes[1][1] + boxes[1][3], 0.2);
  EXPECT_NEAR(3 * boxes[0][3], boxes[1][3], 0.3);
  EXPECT_GT(boxes[2][0], boxes[0][0] + boxes[0][2]);
}

TEST(StackFigure, ManyEpochsHaveTheirMeans) {
  StackFigure figure = {.title = "t", .layers = {{.name = "a"}}};
  for (int i = 1; i <= 1000; ++i) {
    figure.x.push_back(i);
    figure.layers[0].values.push_back(i % 2 == 0 ? 4 : 2);
  }
  const std::string html = ToHtml(figure);
  EXPECT_LE(Boxes(html).size(), 80U);
  EXPECT_THAT(html, HasSubstr("a 1 to 13: 2.923"));
}

std::vector<std::vector<double>> Lengths(const std::string& html) {
  return Numbers(html, R"re(<i class="c(\d) fill" style="--length:([\d.]+)"></i>([\d.]+)<)re");
}

TEST(BarFigure, LengthsAreSharesOfTheMost) {
  const std::string html = ToHtml(
      BarFigure{.title = "t", .axis = "count", .most = 2, .bars = {{"a", {0.25}}, {"b", {0.5}, "note"}, {"c", {3}}}});
  // The last is no longer than the axis.
  EXPECT_EQ(Lengths(html), (std::vector<std::vector<double>>{{0, 0.125, 0.25}, {0, 0.25, 0.5}, {0, 1, 3}}));
  EXPECT_THAT(html, HasSubstr("count; the longest bar that is possible is 2."));
}

TEST(BarFigure, ANameMayHaveSeveralBarsWithALegend) {
  const std::string html = ToHtml(BarFigure{
      .title = "t", .series = {"tails", "heads"}, .bars = {{"a", {0.25, 0.5}, "(3 edges)"}, {"b", {0.5, 1}}}});
  EXPECT_EQ(Lengths(html),
            (std::vector<std::vector<double>>{{0, 0.25, 0.25}, {1, 0.5, 0.5}, {0, 0.5, 0.5}, {1, 1, 1}}));
  EXPECT_THAT(html, HasSubstr("</span>tails</li>"));
  EXPECT_THAT(html, HasSubstr("a, heads: 0.500"));
  EXPECT_THAT(html, HasSubstr("a <span>(3 edges)</span>"));
}

TEST(HeatFigure, CellsStandInTheirColumnsAtLogarithmicPlaces) {
  const std::string html =
      ToHtml(HeatFigure{.title = "t", .columns = {"0", "1"}, .cells = {{0, 1, 2, 1}, {0, 2, 4, 1000}, {1, 4, 16, 30}}});
  const auto boxes = Boxes(html);
  ASSERT_EQ(boxes.size(), 3U);
  EXPECT_NEAR(boxes[0][3], boxes[1][3], 0.2);
  EXPECT_NEAR(2 * boxes[0][3], boxes[2][3], 0.2);
  EXPECT_NEAR(boxes[0][1], boxes[1][1] + boxes[1][3], 0.2);
  EXPECT_NEAR(boxes[2][0], boxes[0][0] + boxes[0][2], 0.2);
  EXPECT_THAT(html, HasSubstr("class=\"h1\""));
  EXPECT_THAT(html, HasSubstr("class=\"h4\""));
  EXPECT_THAT(html, HasSubstr("class=\"h7\""));
}

TEST(SpanFigure, RowsAreFilledWhereSomethingIs) {
  const auto boxes =
      Boxes(ToHtml(SpanFigure{.title = "t", .rows = {{"1", {{0, 0.5}, {0.75, 1}}}, {"2", {{0.5, 0.75}}}}}));
  ASSERT_EQ(boxes.size(), 3U);
  EXPECT_NEAR(boxes[0][2], 2 * boxes[1][2], 0.2);
  EXPECT_NEAR(boxes[2][0], boxes[0][0] + boxes[0][2], 0.2);
  EXPECT_GE(boxes[2][1], boxes[0][1] + boxes[0][3]);
}

TEST(Figures, SurviveNothingAndValuesThatAreNone) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::string& html :
       {ToHtml(LineFigure{}), ToHtml(LineFigure{.lines = {{"a", {{1, nan}, {2, infinity}}}}}),
        ToHtml(LineFigure{.lines = {{"a", {{1, nan}, {2, 5}}}}}),
        ToHtml(LineFigure{.from_zero = false, .lines = {{"a", {{1, 0}}}}}), ToHtml(StackFigure{}),
        ToHtml(StackFigure{.x = {1}, .layers = {{"a", {nan}}, {"b", {}}}, .lines = {{"c", {infinity}}}}),
        ToHtml(BarFigure{}), ToHtml(BarFigure{.bars = {{"</title>", {0}}}}), ToHtml(HeatFigure{}),
        ToHtml(HeatFigure{.columns = {"0"}, .cells = {{0, 1, 1.01, 1}}}), ToHtml(SpanFigure{}),
        ToHtml(SpanFigure{.rows = {{"1", {}}}})}) {
    EXPECT_THAT(html, Not(HasSubstr("nan")));
    EXPECT_THAT(html, Not(HasSubstr("inf")));
    EXPECT_THAT(html, HasSubstr("</figure>"));
  }
}

}  // namespace
}  // namespace octavo
