#include "import/memory_plan.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(MemoryPlan, NoLimitLimitsNothing) {
  ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(0, 5));
  EXPECT_EQ(plan.workers, 5U);
  EXPECT_EQ(plan.collected_bytes, UINT64_MAX);
  EXPECT_EQ(plan.encode_bytes, UINT64_MAX);
  EXPECT_EQ(plan.merge_bytes, UINT64_MAX);
  EXPECT_EQ(plan.max_cached_input_bytes, UINT64_MAX);
}

TEST(MemoryPlan, RefusesTooLittleWithTheSmallestThatWouldDo) {
  EXPECT_ERROR(PlanMemory(1, 2), kUsage, "--memory 1 B is too little for an import; expected at least 64MiB");
  EXPECT_ERROR(PlanMemory(64 * kMiB - 1, 64), kUsage, "expected at least 64MiB");
  EXPECT_OK(PlanMemory(64 * kMiB, 64));
}

TEST(MemoryPlan, NoPhaseTakesMoreThanThereIs) {
  for (const std::uint64_t memory : {64 * kMiB, 65 * kMiB, 100 * kMiB, 256 * kMiB, 1024 * kMiB, 100000 * kMiB}) {
    std::size_t workers_before = 0;
    for (const std::size_t threads : {1UL, 2UL, 16UL, 1024UL}) {
      ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(memory, threads));
      EXPECT_GE(plan.workers, std::max<std::size_t>(1, workers_before));
      EXPECT_LE(plan.workers, threads);
      EXPECT_GE(plan.collected_bytes, 8 * kMiB);
      EXPECT_GE(plan.window_bytes, 8 * kMiB);
      EXPECT_LT(plan.workers * 24 * kMiB + plan.collected_bytes + plan.window_bytes, memory);
      EXPECT_LT(plan.encode_bytes, memory);
      EXPECT_LT(plan.merge_bytes, memory);
      workers_before = plan.workers;
    }
  }
}

}  // namespace
}  // namespace octavo
