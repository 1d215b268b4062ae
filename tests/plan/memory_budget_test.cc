#include "plan/memory_budget.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(DefaultMemoryLimit, IsBelowWhatTheMachineHas) {
  const std::uint64_t limit = DefaultMemoryLimit();
  EXPECT_GT(limit, std::uint64_t{1} << 24);
  EXPECT_LT(limit, std::uint64_t{1} << 46);
}

}  // namespace
}  // namespace octavo
