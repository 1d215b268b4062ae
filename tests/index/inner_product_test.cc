#include "index/inner_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace octavo {
namespace {

// Whole numbers, so that sums are exact in any order; lengths around vector widths, at any alignment.
TEST(InnerProduct, IsTheSumOfProducts) {
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  std::vector<float> a(100);
  std::vector<float> b(100);
  for (float& x : a) x = static_cast<float>(random.Below(19)) - 9.0F;
  for (float& x : b) x = static_cast<float>(random.Below(19)) - 9.0F;
  for (std::size_t n = 0; n < 70; ++n) {
    for (std::size_t offset = 0; offset < 5; ++offset) {
      float sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += a[offset + i] * b[i];
      EXPECT_EQ(InnerProduct(a.data() + offset, b.data(), n), sum) << n;
    }
  }
}

}  // namespace
}  // namespace octavo
