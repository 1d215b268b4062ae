#include "base/count_text.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(CountText, HasTheNounInItsNumber) {
  EXPECT_EQ(CountText(0, "edge"), "0 edges");
  EXPECT_EQ(CountText(1, "edge"), "1 edge");
  EXPECT_EQ(CountText(2, "test edge"), "2 test edges");
  EXPECT_EQ(CountText(12, "epoch"), "12 epochs");
  EXPECT_EQ(CountText(1, "batch"), "1 batch");
  EXPECT_EQ(CountText(2, "class"), "2 classes");
  EXPECT_EQ(CountText(12'345, "batch"), "12345 batches");
}

}  // namespace
}  // namespace octavo
