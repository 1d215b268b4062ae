#include "bench/kernels.h"

#include <set>
#include <string_view>

#include "gtest/gtest.h"

namespace octavo {
namespace {

constexpr double kShort = 0.01;  // speed is measured, not asserted

TEST(MeasureKernels, CountsTheFlopsOfEachModel) {
  const KernelShape shape{.chunk = 16, .negatives = 8, .dim = 12};
  std::set<std::string_view> models;
  for (const KernelRate& rate : MeasureKernels(shape, 2, kShort)) {
    models.insert(ModelName(rate.model.kind));
    EXPECT_GT(rate.edges_per_second, 0);
    EXPECT_NEAR(rate.gflops * 1e9 / rate.edges_per_second, 2 * 3 * 2 * 8 * 12, 1e-3);
  }
  EXPECT_EQ(models.size(), 7U);
}

}  // namespace
}  // namespace octavo
