// The measurements of lib/bench are about speed, which no test asserts: here it is that they measure, and count right.
#include <cmath>
#include <set>
#include <string>

#include "bench/kernels.h"
#include "bench/locks.h"
#include "bench/machine.h"
#include "bench/prefetch.h"
#include "bench/rate.h"
#include "bench/scaling.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

constexpr double kShort = 0.01;

TEST(CallsPerSecond, CallsWithAscendingNumbers) {
  std::uint64_t expected = 0;
  const double rate = CallsPerSecond(kShort, [&](std::uint64_t i) { EXPECT_EQ(i, expected++); });
  EXPECT_GT(rate, 0);
  EXPECT_GE(expected, 4U);
}

TEST(MeasureKernels, CountsTheFlopsOfEachModel) {
  const KernelShape shape{.chunk = 16, .negatives = 8, .dim = 12};
  std::set<std::string_view> models;
  for (const KernelRate& rate : MeasureKernels(shape, 2, kShort)) {
    models.insert(ModelName(rate.model.kind));
    EXPECT_GT(rate.edges_per_second, 0);
    EXPECT_NEAR(rate.gflops * 1e9 / rate.edges_per_second, 2 * 3 * 2 * 8 * 12, 1e-3);
  }
  EXPECT_EQ(models.size(), 5U);
}

TEST(MeasurePrefetch, NothingIsFasterThanIdeal) {
  for (const PrefetchRow& row : MeasurePrefetch(kShort)) {
    EXPECT_NEAR(row.fetch_seconds + row.compute_seconds, 4e-3, 1e-9);
    EXPECT_GE(row.double_buffered_seconds, 0.999 * row.ideal_seconds);
    EXPECT_GE(row.serial_seconds, row.ideal_seconds);
  }
}

TEST(MeasureLocks, HasEachKindForEachNumberOfThreads) {
  const auto rates = MeasureLocks(2, kShort);
  EXPECT_EQ(rates.size(), 2U * 2 * 6);
  for (const LockRate& rate : rates) EXPECT_GT(rate.updates_per_second, 0) << rate.locks;
}

TEST(MeasureScaling, HasAPointForEachNumberOfThreadsAndChunk) {
  const TinyTraining training({.nodes = 300, .relations = 3, .edges = 2000});
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Graph> graph, Graph::Open(training.graph_folder()));
  TrainOptions options = TinyOptions();
  options.batch = 400;
  options.chunk = 50;
  ASSERT_OK_AND_ASSIGN(const ScalingReport report,
                       MeasureScaling(options, *graph, training.folder().path(), kPlenty, 2));
  ASSERT_EQ(report.points.size(), 2U * 3);
  for (const ScalingPoint& point : report.points) {
    EXPECT_GT(point.rate.edges_per_second, 0);
    EXPECT_NEAR(point.gflops * 1e9 / point.rate.edges_per_second, 12.0 * 8 * 8, 1e-3);
    if (point.threads == 1) {
      EXPECT_EQ(point.speedup, 1);
    }
  }
  EXPECT_TRUE(report.bound == "compute" || report.bound == "memory");
}

TEST(GemmPeak, IsMeasured) { EXPECT_GT(GemmPeak(1, kShort), 0); }

}  // namespace
}  // namespace octavo
