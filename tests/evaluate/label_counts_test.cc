#include "evaluate/label_counts.h"

#include <gtest/gtest.h>

namespace octavo {
namespace {

TEST(LabelCounts, F1OfFourNodesByHand) {
  // Theirs:    a | b c | a | c
  // Predicted: a | a b | c | c      no node has or gets d
  const LabelCounts labels[] = {{1, 1, 1}, {1, 0, 0}, {1, 1, 1}, {0, 0, 0}};
  EXPECT_DOUBLE_EQ(labels[0].F1(), 0.5);
  EXPECT_DOUBLE_EQ(labels[1].F1(), 1.0);
  EXPECT_EQ(labels[3].F1(), 0.0);
  EXPECT_DOUBLE_EQ(MicroF1(labels), 0.6);
  EXPECT_DOUBLE_EQ(MacroF1(labels), 0.5);  // scikit-learn's macro average with zero_division=0, over four columns
}

TEST(LabelCounts, NothingRight) {
  const LabelCounts labels[] = {{0, 3, 0}, {0, 0, 3}};
  EXPECT_EQ(MicroF1(labels), 0.0);
  EXPECT_EQ(MacroF1(labels), 0.0);
}

}  // namespace
}  // namespace octavo
