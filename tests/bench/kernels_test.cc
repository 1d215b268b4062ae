#include "bench/kernels.h"

#include <set>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/bench/short.h"

namespace octavo {
namespace {

TEST(MeasureKernels, CountsTheFlopsOfEachModel) {
  const KernelShape shape{.chunk = 16, .negatives = 8, .dim = 12};
  std::set<std::string_view> models;
  const KernelReport report = MeasureKernels(shape, 2, kShortSeconds);
  ASSERT_EQ(report.peaks.size(), 2U);
  for (const ProductPeak& peak : report.peaks) {
    EXPECT_GT(peak.float32, 0);
    EXPECT_GT(peak.bf16, 0);
  }
  std::set<std::string_view> bf16;
  for (const KernelRate& rate : report.rates) {
    if (rate.bf16) bf16.insert(ModelName(rate.model.kind));
    EXPECT_GT(rate.share_of_bound, 0);
    EXPECT_GT(rate.comparing, 0);
    EXPECT_LE(rate.comparing, 1);
    EXPECT_EQ(rate.packing > 0, rate.bf16);

    models.insert(ModelName(rate.model.kind));
    EXPECT_GT(rate.edges_per_second, 0);
    EXPECT_NEAR(rate.gflops * 1e9 / rate.edges_per_second, 2 * 3 * 2 * 8 * 12, 1e-3);
  }
  EXPECT_EQ(models.size(), 7U);
  EXPECT_EQ(bf16, (std::set<std::string_view>{"complex", "distmult", "dot", "rescal", "source-context"}));
}

}  // namespace
}  // namespace octavo
