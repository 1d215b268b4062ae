#include "evaluate/rank_metrics.h"

#include <gtest/gtest.h>

namespace octavo {
namespace {

TEST(TiedRank, IsTheMeanOfTheBestAndTheWorst) {
  EXPECT_EQ(TiedRank(0, 0), 1.0);
  EXPECT_EQ(TiedRank(4, 0), 5.0);
  EXPECT_EQ(TiedRank(0, 1), 1.5);    // best 1, worst 2
  EXPECT_EQ(TiedRank(2, 4), 5.0);    // best 3, worst 7
  EXPECT_EQ(TiedRank(0, 99), 50.5);  // all of 100 equal: (n + 1) / 2
}

TEST(RankSums, MeansOfKnownRanks) {
  RankSums sums;
  for (const double rank : {1.0, 1.5, 3.0, 10.0, 10.5}) sums.Add(rank);
  EXPECT_EQ(sums.count, 5U);
  EXPECT_DOUBLE_EQ(sums.MeanReciprocalRank(), (1 + 1 / 1.5 + 1 / 3.0 + 1 / 10.0 + 1 / 10.5) / 5);
  EXPECT_DOUBLE_EQ(sums.MeanRank(), 26.0 / 5);
  EXPECT_DOUBLE_EQ(sums.HitsAt1(), 0.2);
  EXPECT_DOUBLE_EQ(sums.HitsAt3(), 0.6);
  EXPECT_DOUBLE_EQ(sums.HitsAt10(), 0.8);
}

TEST(RankSums, NothingCountedIsZero) {
  EXPECT_EQ(RankSums().MeanReciprocalRank(), 0.0);
  EXPECT_EQ(RankSums().MeanRank(), 0.0);
  EXPECT_EQ(RankSums().HitsAt10(), 0.0);
}

TEST(RankSums, Add) {
  RankSums a;
  RankSums b;
  a.Add(1);
  b.Add(4);
  const RankSums both = a + b;
  EXPECT_EQ(both.count, 2U);
  EXPECT_DOUBLE_EQ(both.MeanReciprocalRank(), 0.625);
  EXPECT_DOUBLE_EQ(both.HitsAt1(), 0.5);
  EXPECT_DOUBLE_EQ(both.HitsAt3(), 0.5);
  EXPECT_DOUBLE_EQ(both.HitsAt10(), 1.0);
}

}  // namespace
}  // namespace octavo
