#include "tune/halving.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;
using Task = Halving::Task;

// Runs all remaining tasks: trial t gets the result mrr(task).
template <typename Mrr>
std::vector<Task> Finish(Halving& halving, const Mrr& mrr) {
  std::vector<Task> tasks;
  while (const auto task = halving.Next()) {
    tasks.push_back(*task);
    halving.AddResult(mrr(*task));
  }
  return tasks;
}

std::vector<std::uint64_t> Order(const Halving& halving) {
  std::vector<std::uint64_t> order;
  for (const auto& place : halving.Ranking()) order.push_back(place.trial);
  return order;
}

// The bracket s = 4 of the table in Li et al., "Hyperband", JMLR 2018, with R = 81 and eta = 3.
TEST(MakeRungs, AreThoseOfThePaper) {
  EXPECT_THAT(MakeRungs(81, 1, 81, 3), ElementsAre(Rung{1, 81}, Rung{3, 27}, Rung{9, 9}, Rung{27, 3}, Rung{81, 1}));
  EXPECT_THAT(MakeRungs(16, 3, 27, 3), ElementsAre(Rung{3, 16}, Rung{9, 5}, Rung{27, 1}));
  EXPECT_THAT(MakeRungs(8, 2, 16, 2), ElementsAre(Rung{2, 8}, Rung{4, 4}, Rung{8, 2}, Rung{16, 1}));
}

TEST(MakeRungs, TheLastOneEndsWhereItIsTold) {
  EXPECT_THAT(MakeRungs(16, 3, 26, 3), ElementsAre(Rung{3, 16}, Rung{26, 5}));
  EXPECT_THAT(MakeRungs(16, 3, 80, 3), ElementsAre(Rung{3, 16}, Rung{9, 5}, Rung{80, 1}));
  EXPECT_THAT(MakeRungs(16, 5, 5, 3), ElementsAre(Rung{5, 16}));
  EXPECT_THAT(MakeRungs(16, 5, 9, 2), ElementsAre(Rung{9, 16}));
  EXPECT_THAT(MakeRungs(2, 1, 9, 3), ElementsAre(Rung{1, 2}, Rung{3, 1}, Rung{9, 1})) << "never none";
  EXPECT_EQ(MakeRungs(1, 1, 1'000'000, 2).size(), 20U);
  EXPECT_EQ(MakeRungs(1, 1, std::uint64_t{1} << 32, std::uint64_t{1} << 31).size(), 2U);
}

// Six trials, the best two of which continue: computed by hand.
TEST(HalvingTest, GoesOnWithTheBestOfEachRung) {
  Halving halving(MakeRungs(6, 1, 9, 3));
  ASSERT_THAT(halving.rungs(), ElementsAre(Rung{1, 6}, Rung{3, 2}, Rung{9, 1}));
  const std::map<std::pair<std::size_t, std::uint64_t>, double> mrrs = {{{0, 0}, 0.10}, {{0, 1}, 0.30}, {{0, 2}, 0.20},
                                                                        {{0, 3}, 0.25}, {{0, 4}, 0.05}, {{0, 5}, 0.24},
                                                                        {{1, 1}, 0.40}, {{1, 3}, 0.45}, {{2, 3}, 0.39}};
  const auto tasks = Finish(halving, [&](const Task& task) { return mrrs.at({task.rung, task.trial}); });
  EXPECT_THAT(tasks, ElementsAre(Task{0, 0}, Task{0, 1}, Task{0, 2}, Task{0, 3}, Task{0, 4}, Task{0, 5}, Task{1, 1},
                                 Task{1, 3}, Task{2, 3}));
  // A trial that got further ranks above one that did not, even if its MRR has fallen.
  EXPECT_THAT(Order(halving), ElementsAre(3, 1, 5, 2, 0, 4));
  EXPECT_EQ(halving.Ranking()[0], (Halving::Place{.trial = 3, .rung = 2, .mrr = 0.39}));
  EXPECT_EQ(halving.Best(), 3U);
  EXPECT_FALSE(halving.IsOut(3));
  for (const std::uint64_t trial : {0U, 1U, 2U, 4U, 5U}) EXPECT_TRUE(halving.IsOut(trial)) << trial;
  EXPECT_EQ(halving.Done(0), 6U);
  EXPECT_EQ(halving.Done(1), 2U);
  EXPECT_EQ(halving.Done(2), 1U);
}

TEST(MakeReferenceRungs, AreAtMostThreeWithTwoTrialsInTheLast) {
  EXPECT_THAT(MakeReferenceRungs(16, 90, 3), ElementsAre(Rung{10, 16}, Rung{30, 5}, Rung{90, 2}));
  EXPECT_THAT(MakeReferenceRungs(16, 4, 3), ElementsAre(Rung{1, 16}, Rung{4, 5}));
  EXPECT_THAT(MakeReferenceRungs(4, 1, 3), ElementsAre(Rung{1, 4}));
  EXPECT_THAT(MakeReferenceRungs(1, 9, 3), ElementsAre(Rung{1, 1}, Rung{3, 1}, Rung{9, 1}));
}

TEST(HalvingTest, AReferenceContinuesAndIsFirstInEachRung) {
  Halving halving(MakeReferenceRungs(9, 9, 3), Halving::Kind::kReference);
  ASSERT_THAT(halving.rungs(), ElementsAre(Rung{1, 9}, Rung{3, 3}, Rung{9, 2}));
  // The higher the number the better, so the reference is the worst.
  const auto tasks = Finish(halving, [](const Task& task) { return static_cast<double>(task.trial); });
  EXPECT_THAT(tasks, ElementsAre(Task{0, 0}, Task{0, 1}, Task{0, 2}, Task{0, 3}, Task{0, 4}, Task{0, 5}, Task{0, 6},
                                 Task{0, 7}, Task{0, 8}, Task{1, 0}, Task{1, 8}, Task{1, 7}, Task{2, 0}, Task{2, 8}));
  EXPECT_THAT(Order(halving), ElementsAre(8, 0, 7, 6, 5, 4, 3, 2, 1));
  EXPECT_TRUE(halving.IsOut(0)) << "after the last rung";
}

TEST(HalvingTest, AReferenceThatFailsIsOut) {
  Halving halving(MakeReferenceRungs(4, 3, 3), Halving::Kind::kReference);
  halving.AddFailure();
  const auto tasks = Finish(halving, [](const Task& task) { return static_cast<double>(task.trial); });
  EXPECT_THAT(tasks, ElementsAre(Task{0, 1}, Task{0, 2}, Task{0, 3}, Task{1, 3}, Task{1, 2}));
  EXPECT_TRUE(halving.IsOut(0));
}

TEST(HalvingTest, OfTrialsThatLeaveTheSameShareOfTheOthersContinues) {
  Halving halving(MakeReferenceRungs(27, 9, 3), Halving::Kind::kReference);
  ASSERT_THAT(halving.rungs(), ElementsAre(Rung{1, 27}, Rung{3, 9}, Rung{9, 3}));
  for (std::uint64_t trial = 0; trial < 12; ++trial) halving.AddResult(static_cast<double>(trial));
  for (std::uint64_t trial = 12; trial < 27; ++trial) halving.AddSkip();
  EXPECT_EQ(halving.Done(0), 27U);
  EXPECT_TRUE(halving.IsOut(20));
  const auto tasks = Finish(halving, [](const Task& task) { return static_cast<double>(task.trial); });
  EXPECT_THAT(tasks,
              ElementsAre(Task{1, 0}, Task{1, 11}, Task{1, 10}, Task{1, 9}, Task{2, 0}, Task{2, 11}, Task{2, 10}));
  EXPECT_EQ(halving.Ranking()[0].trial, 11U);
}

TEST(HalvingTest, IsOutAsSoonAsEnoughAreBetter) {
  Halving halving(MakeRungs(6, 1, 3, 3));
  halving.AddResult(0.1);
  halving.AddResult(0.2);
  EXPECT_FALSE(halving.IsOut(0));
  halving.AddResult(0.15);
  EXPECT_TRUE(halving.IsOut(0));
  halving.AddResult(0.05);
  EXPECT_TRUE(halving.IsOut(3));
  EXPECT_FALSE(halving.IsOut(1));
  EXPECT_FALSE(halving.IsOut(2));
  EXPECT_FALSE(halving.IsOut(5)) << "not begun";
}

TEST(HalvingTest, OfEqualOnesTheFirstIsBetter) {
  Halving halving(MakeRungs(4, 1, 2, 2));
  Finish(halving, [](const Task&) { return 0.5; });
  EXPECT_THAT(Order(halving), ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(halving.IsOut(0));
}

TEST(HalvingTest, AFailureIsWorseThanEverything) {
  Halving halving(MakeRungs(4, 1, 4, 2));
  halving.AddFailure();
  EXPECT_TRUE(halving.IsOut(0));
  halving.AddResult(0);
  halving.AddFailure();
  halving.AddResult(0.1);
  EXPECT_EQ(halving.Next(), (Task{1, 1}));
  halving.AddResult(0.2);
  halving.AddFailure();  // trial 3, which had been the best
  EXPECT_EQ(halving.Next(), (Task{2, 1}));
  halving.AddResult(0.3);
  EXPECT_EQ(halving.Next(), std::nullopt);
  EXPECT_THAT(Order(halving), ElementsAre(1, 0, 2, 3));
  EXPECT_TRUE(halving.Ranking()[3].failed);
}

// The others of a rung are trained by their place, not by their number.
TEST(HalvingTest, OfEqualOnesTheFirstTrainedIsTheBestAndNotOut) {
  Halving halving({{1, 4}, {3, 3}, {9, 3}}, Halving::Kind::kReference);
  for (const double mrr : {0.1, 0.2, 0.3, 0.0}) halving.AddResult(mrr);
  for (const std::uint64_t trial : {0U, 2U, 1U}) {
    EXPECT_EQ(halving.Next(), (Task{1, trial}));
    halving.AddResult(trial == 0 ? 0.1 : 0.4);
  }
  for (const std::uint64_t trial : {0U, 2U, 1U}) {
    EXPECT_EQ(halving.Next(), (Task{2, trial}));
    halving.AddResult(trial == 0 ? 0.1 : 0.5);
  }
  EXPECT_EQ(halving.Best(), 2U);
  EXPECT_FALSE(halving.IsOut(2));
  EXPECT_TRUE(halving.IsOut(1));
  EXPECT_THAT(Order(halving), ElementsAre(2, 1, 0, 3));
}

TEST(HalvingTest, EndsWhereAllFail) {
  Halving halving(MakeRungs(3, 1, 9, 3));
  EXPECT_EQ(halving.Best(), std::nullopt);
  for (int i = 0; i < 3; ++i) halving.AddFailure();
  EXPECT_EQ(halving.Next(), std::nullopt);
  EXPECT_EQ(halving.Best(), std::nullopt);
  EXPECT_TRUE(halving.Ranking()[0].failed);
}

TEST(HalvingTest, ThoseWithoutAResultStandBetween) {
  Halving halving(MakeRungs(4, 1, 2, 2));
  halving.AddFailure();
  halving.AddResult(0.1);
  EXPECT_THAT(Order(halving), ElementsAre(1, 2, 3, 0));
  EXPECT_EQ(halving.Ranking()[1].rung, std::nullopt);
}

// Compared with sorting each rung as a whole.
TEST(HalvingTest, IsWhatSortingGives) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, RandomPurpose::kTrials, 0, 0);
    const std::uint64_t trials = 1 + random.Below(40);
    const std::uint64_t eta = 2 + random.Below(3);
    const std::vector<Rung> rungs = MakeRungs(trials, 1, 1 + random.Below(100), eta);
    Halving halving(rungs);
    std::vector<std::uint64_t> members(trials);
    for (std::uint64_t t = 0; t < trials; ++t) members[t] = t;
    std::vector<std::uint64_t> expected;  // worst first
    for (std::size_t r = 0; r < rungs.size(); ++r) {
      std::vector<std::pair<double, std::uint64_t>> through;
      for (const std::uint64_t trial : members) {
        ASSERT_EQ(halving.Next(), (Task{r, trial}));
        const double mrr = static_cast<double>(random.Below(10)) / 10;
        through.emplace_back(-mrr, trial);
        halving.AddResult(mrr);
      }
      std::sort(through.begin(), through.end());
      const std::uint64_t kept = r + 1 < rungs.size() ? std::max<std::uint64_t>(1, members.size() / eta) : 0;
      members.clear();
      for (std::size_t i = through.size(); i-- > kept;) expected.push_back(through[i].second);
      for (std::size_t i = 0; i < kept; ++i) members.push_back(through[i].second);
      std::sort(members.begin(), members.end());
    }
    ASSERT_EQ(halving.Next(), std::nullopt);
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(Order(halving), expected) << seed;
    for (std::uint64_t t = 0; t < trials; ++t) EXPECT_EQ(halving.IsOut(t), t != expected[0]);
  }
}

}  // namespace
}  // namespace octavo
