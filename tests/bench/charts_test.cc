#include "bench/charts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(MachineCharts, HasAGroupForEachShapeAndBarsForLibrariesAndThreads) {
  MachineReport report;
  report.threads = 2;
  report.gemm = {{"a", 1, 2, 3, 1, 10}, {"a", 1, 2, 3, 2, 20}, {"a", 4, 5, 6, 1, 30}, {"a", 4, 5, 6, 2, 40}};
  report.gather_rows_per_second = 1e7;
  report.disk = {.read = 2e9, .write = 1e9};
  const ChartPage page = MachineCharts(report);
  ASSERT_EQ(page.bar_charts.size(), 2U);
  EXPECT_THAT(page.bar_charts[0].groups, ElementsAre("1 x 2 x 3", "4 x 5 x 6"));
  ASSERT_EQ(page.bar_charts[0].bars.size(), 2U);
  EXPECT_EQ(page.bar_charts[0].bars[1].name, "a, 2 threads");
  EXPECT_THAT(page.bar_charts[0].bars[1].values, ElementsAre(20, 40));
  ASSERT_EQ(page.bar_charts[1].bars.size(), 1U);
  EXPECT_THAT(page.bar_charts[1].bars[0].values, ElementsAre(0, 5.12, 2, 1));
}

TEST(KernelCharts, ShowsSharesInPercent) {
  const ModelSpec complex{.kind = ModelKind::kComplEx, .dim = 8};
  const ModelSpec transe{.kind = ModelKind::kTransE, .norm = Norm::kL1, .dim = 8};
  const auto rate = [](const ModelSpec& model, bool bf16, int threads, double edges, double share) {
    return KernelRate{
        .model = model, .bf16 = bf16, .threads = threads, .edges_per_second = edges, .share_of_gemm_peak = share};
  };
  const KernelReport report{
      .peaks = {},
      .rates = {rate(complex, false, 1, 100, 0.5), rate(complex, false, 2, 200, 0.4), rate(complex, true, 1, 80, 0.4),
                rate(complex, true, 2, 160, 0.3), rate(transe, false, 1, 10, 0.25), rate(transe, false, 2, 20, 0.2)}};
  const ChartPage page = KernelCharts({.chunk = 1, .negatives = 2, .dim = 8}, report);
  ASSERT_EQ(page.bar_charts.size(), 2U);
  EXPECT_THAT(page.bar_charts[0].groups, ElementsAre("complex", "transe l1"));
  ASSERT_EQ(page.bar_charts[0].bars.size(), 4U);
  EXPECT_EQ(page.bar_charts[0].bars[2].name, "1 thread, bf16");
  EXPECT_THAT(page.bar_charts[0].bars[0].values, ElementsAre(50, 25));
  EXPECT_THAT(page.bar_charts[0].bars[2].values, ElementsAre(40, 0));
  EXPECT_THAT(page.bar_charts[1].bars[1].values, ElementsAre(200, 20));
}

TEST(PrefetchCharts, HasThreeLinesOverTheRatio) {
  const ChartPage page = PrefetchCharts({{1, 4, 10, 9, 8}, {2, 1, 11, 7, 6}});
  ASSERT_EQ(page.line_charts.size(), 1U);
  ASSERT_EQ(page.line_charts[0].lines.size(), 3U);
  EXPECT_THAT(page.line_charts[0].lines[0].points, ElementsAre(Pair(0.25, 10), Pair(2, 11)));
  EXPECT_THAT(page.line_charts[0].lines[1].points, ElementsAre(Pair(0.25, 9), Pair(2, 7)));
  EXPECT_THAT(page.line_charts[0].lines[2].points, ElementsAre(Pair(0.25, 8), Pair(2, 6)));
  EXPECT_TRUE(page.line_charts[0].lines[2].dashed);
}

TEST(LockCharts, TellsEvenAndSkewedApart) {
  const ChartPage page = LockCharts({.rates = {{"none", 0, 1, false, 8},
                                               {"stripes", 64, 1, false, 7},
                                               {"one", 1, 1, false, 6},
                                               {"none", 0, 1, true, 5},
                                               {"stripes", 64, 1, true, 4},
                                               {"one", 1, 1, true, 3}},
                                     .share = {.of_training = 0.0123}});
  ASSERT_EQ(page.bar_charts.size(), 2U);
  for (const BarChart& chart : page.bar_charts) {
    EXPECT_THAT(chart.groups, ElementsAre("1 thread"));
    EXPECT_THAT(chart.bars,
                ElementsAre(Field(&BarChart::Bars::name, "none, disjoint rows"),
                            Field(&BarChart::Bars::name, "64 stripes"), Field(&BarChart::Bars::name, "one for all")));
  }
  EXPECT_THAT(page.bar_charts[0].bars[1].values, ElementsAre(7));
  EXPECT_THAT(page.bar_charts[1].bars[1].values, ElementsAre(4));
  EXPECT_THAT(page.notes[1], HasSubstr("1.2 %"));
}

TEST(OrderCharts, HasALineForEachOrder) {
  const ChartPage page = OrderCharts(CountOrders());
  ASSERT_EQ(page.line_charts.size(), 2U);
  const LineChart& quarter = page.line_charts[0];
  ASSERT_EQ(quarter.lines.size(), 5U);
  for (const LineChart::Line& line : quarter.lines) {
    ASSERT_EQ(line.points.size(), 4U) << line.name;
    EXPECT_EQ(line.points.front().first, 8);
    EXPECT_EQ(line.points.back().first, 64);
  }
  EXPECT_EQ(quarter.lines[3].name, "beta");
  EXPECT_EQ(quarter.lines[3].points[2].second, 78);  // 32 partitions, 8 resident
  ASSERT_EQ(page.line_charts[1].lines.size(), 5U);
  EXPECT_THAT(page.line_charts[1].lines[4].points[1], Pair(8, 67));
}

TEST(ScalingCharts, HasALineForEachChunkAndTheIdeal) {
  ScalingReport report;
  for (const int threads : {1, 2}) {
    for (const std::uint64_t chunk : {50, 100}) {
      ScalingPoint& point = report.points.emplace_back();
      point.threads = threads;
      point.chunk = chunk;
      point.rate.edges_per_second = 1000.0 * threads + static_cast<double>(chunk);
      point.speedup = 0.9 * threads;
    }
  }
  report.bound = "compute";
  const ChartPage page = ScalingCharts(report);
  ASSERT_EQ(page.line_charts.size(), 2U);
  ASSERT_EQ(page.line_charts[0].lines.size(), 2U);
  EXPECT_THAT(page.line_charts[0].lines[1].points, ElementsAre(Pair(1, 1100), Pair(2, 2100)));
  ASSERT_EQ(page.line_charts[1].lines.size(), 3U);
  EXPECT_EQ(page.line_charts[1].lines[0].points[1].second, 1.8);
  EXPECT_THAT(page.line_charts[1].lines[2].points, ElementsAre(Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(page.notes[0], HasSubstr("compute"));
}

}  // namespace
}  // namespace octavo
