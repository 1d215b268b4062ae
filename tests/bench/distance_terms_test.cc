#include "bench/distance_terms.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

// The rate that is measured with them would be wrong if they did less than they say.
TEST(DistanceTerms, AreAtLeastThoseThatWereAskedFor) {
  for (const std::size_t count : {1UL, 63UL, 64UL, 65UL, 1000UL}) {
    for (const std::size_t done : {ComputeL1Terms(count), ComputeComplexL1Terms(count)}) {
      EXPECT_GE(done, count);
      EXPECT_LT(done, count + 64);  // four vectors of at most 16 numbers
    }
  }
  EXPECT_EQ(ComputeL1Terms(0), 0U);
  EXPECT_EQ(ComputeComplexL1Terms(0), 0U);
}

}  // namespace
}  // namespace octavo
