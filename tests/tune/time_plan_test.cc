#include "tune/time_plan.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(TimePlanTest, WithoutATimeEverythingIsAdmitted) {
  const TimePlan plan(0);
  EXPECT_FALSE(plan.limited());
  EXPECT_TRUE(plan.Admits({.spent = 1e9, .needed = 1e9, .later = 1e9}));
  EXPECT_FALSE(plan.MustEnd({.spent = 1e9, .needed = 1}, 1e9));
}

TEST(TimePlanTest, EachRungHasItsShare) {
  const TimePlan plan(100);
  EXPECT_TRUE(plan.Admits({.rung = 0, .rungs = 3, .spent = 30, .needed = 10}));
  EXPECT_FALSE(plan.Admits({.rung = 0, .rungs = 3, .spent = 40, .needed = 10}));
  EXPECT_TRUE(plan.Admits({.rung = 1, .rungs = 3, .spent = 40, .needed = 10}));
  EXPECT_FALSE(plan.Admits({.rung = 1, .rungs = 3, .spent = 65, .needed = 10}));
  EXPECT_TRUE(plan.Admits({.rung = 2, .rungs = 3, .spent = 65, .needed = 10}));
  EXPECT_TRUE(plan.Admits({.rung = 0, .rungs = 1, .spent = 65, .needed = 10})) << "the only rung";
}

TEST(TimePlanTest, WhatMustFollowHasItsTime) {
  const TimePlan plan(100);
  EXPECT_TRUE(plan.Admits({.rung = 2, .rungs = 3, .spent = 10, .needed = 10, .later = 74}));
  EXPECT_FALSE(plan.Admits({.rung = 2, .rungs = 3, .spent = 10, .needed = 10, .later = 76}));
  EXPECT_TRUE(plan.Admits({.rung = 1, .rungs = 3, .spent = 10, .needed = 10, .later = 71}));
  EXPECT_FALSE(plan.Admits({.rung = 1, .rungs = 3, .spent = 10, .needed = 10, .later = 74})) << "it may take longer";
  EXPECT_TRUE(plan.Admits({.rung = 0, .rungs = 3, .spent = 10, .needed = 10, .later = 68}));
  EXPECT_FALSE(plan.Admits({.rung = 0, .rungs = 3, .spent = 10, .needed = 10, .later = 71}));
  EXPECT_FALSE(plan.Admits({.rung = 2, .rungs = 3, .spent = 90, .needed = 10})) << "a margin is left";
}

TEST(TimePlanTest, ATrialIsShorterIfTheBestIsTrainedTwice) {
  EXPECT_EQ(TimePlan(1000).MostSecondsOfTrial(1), 250);
  EXPECT_EQ(TimePlan(1000).MostSecondsOfTrial(0), 250) << "the only trial";
  EXPECT_EQ(TimePlan(1000).MostSecondsOfTrial(2), 180);
}

TEST(TimePlanTest, ATaskThatTakesTooLongMustEnd) {
  const TimePlan plan(100);
  const TimePlan::Task task = {.rung = 0, .rungs = 3, .spent = 20, .needed = 2, .later = 30};
  EXPECT_FALSE(plan.MustEnd(task, 6));
  EXPECT_TRUE(plan.MustEnd(task, 9)) << "four times as long as expected";
  EXPECT_FALSE(plan.MustEnd({.rung = 0, .rungs = 3, .spent = 20, .needed = 0.01}, 1)) << "short anyway";
  EXPECT_TRUE(plan.MustEnd({.rung = 2, .rungs = 3, .spent = 80, .needed = 2, .later = 30}, 1))
      << "the rest would be late";
  EXPECT_FALSE(plan.MustEnd({.rung = 2, .rungs = 3, .spent = 80, .needed = 2}, 50));
  EXPECT_FALSE(plan.MustEnd({.rung = 0, .rungs = 3, .spent = 20}, 10)) << "nothing is known of it";
  EXPECT_TRUE(plan.MustEnd({.rung = 0, .rungs = 3, .spent = 50}, 10)) << "the time of the rung is over";
}

TEST(TimePlanTest, TheLargerCandidateGetsWhatTheOthersLeave) {
  const TimePlan plan(1000);
  EXPECT_EQ(plan.MostSecondsOfLarger(0, 1), 500) << "at most half of the time";
  EXPECT_EQ(plan.MostSecondsOfLarger(0, 2), 250) << "of both trainings";
  EXPECT_EQ(plan.MostSecondsOfLarger(200, 1), 250) << "at least a quarter";
  const double between = plan.MostSecondsOfLarger(100, 1);
  EXPECT_DOUBLE_EQ(between, 350);
  EXPECT_TRUE(plan.Admits({.rung = 2, .rungs = 3, .spent = 599, .needed = between})) << "beside six of the first";
  EXPECT_FALSE(plan.Admits({.rung = 2, .rungs = 3, .spent = 601, .needed = between}));
}

}  // namespace
}  // namespace octavo
