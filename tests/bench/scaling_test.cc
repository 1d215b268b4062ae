#include "bench/scaling.h"

#include <memory>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

TEST(MeasureScaling, HasAPointForEachScheduleNumberOfThreadsAndChunk) {
  const TinyTraining training({.nodes = 300, .relations = 3, .edges = 2000});
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Graph> graph, Graph::Open(training.graph_folder()));
  TrainOptions options = TinyOptions();
  options.batch = 400;
  options.chunk = 50;
  ASSERT_OK_AND_ASSIGN(const ScalingReport report,
                       MeasureScaling(options, *graph, training.folder().path(), kPlenty, 2, 0.05));
  ASSERT_EQ(report.points.size(), 2U * 2 * 3);
  for (const ScalingPoint& point : report.points) {
    EXPECT_GT(point.rate.edges_per_second, 0);
    EXPECT_NEAR(point.gflops * 1e9 / point.rate.edges_per_second, 12.0 * 8 * 8, 1e-3);
    if (point.threads == 1) {
      EXPECT_EQ(point.speedup, 1);
    }
  }
  options.accumulate = 2;
  ASSERT_OK_AND_ASSIGN(const ScalingReport windows,
                       MeasureScaling(options, *graph, training.folder().path(), kPlenty, 1, 0.05));
  ASSERT_EQ(windows.points.size(), 3U);
  EXPECT_EQ(windows.points[0].schedule, Schedule::kSync);
  EXPECT_TRUE(report.bound == "compute" || report.bound == "memory");
}

}  // namespace
}  // namespace octavo
