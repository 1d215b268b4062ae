#include "tune/candidate_sizes.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "choose/choice.h"
#include "choose/choice_limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/choose/made_up_facts.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FitCandidatesTest : public testing::Test {
 protected:
  // Its choice uses almost all of the usual flops.
  FitCandidatesTest() { SetFacts({.nodes = 120'000, .edges = 800'000, .relations = 40, .query_share = 0.5}); }

  void SetFacts(const GraphFacts& facts) {
    source_.facts = facts;
    source_.graph = DescriptionOf(facts);
    source_.memory = std::uint64_t{16} << 30;
    usual_ = Chosen(kUsualFlops);
  }
  TrainOptions Chosen(double flops) const {
    return ChooseOptions(source_.facts, source_.graph, source_.memory, {}, {}, flops).options;
  }
  // Flops of the products, for two queries an edge.
  double Work(const TrainOptions& options) const {
    const std::uint64_t negatives = options.negatives == 0 ? source_.facts.nodes : options.negatives;
    return 12 * source_.facts.query_share * static_cast<double>(source_.facts.edges) *
           static_cast<double>(options.epochs * options.dim * negatives);
  }
  // On a machine where the choice takes `usual` seconds, and others by their products.
  absl::StatusOr<std::string> Fit(double usual, int times = 1) {
    source_.larger.reset();
    measured_.clear();
    asked_.clear();
    return FitCandidates(source_, plan_, times,
                         {.seconds =
                              [&](const TrainOptions& options) {
                                measured_.push_back(options);
                                return usual * Work(options) / Work(usual_);
                              },
                          .choice =
                              [&](double seconds) {
                                asked_.push_back(seconds);
                                return Chosen(kUsualFlops * seconds / usual);
                              }});
  }

  const TimePlan plan_{3600};
  CandidateSource source_;
  TrainOptions usual_;
  std::vector<TrainOptions> measured_;
  std::vector<double> asked_;
};

TEST_F(FitCandidatesTest, ACandidateIsLargerWhereTheChoiceTakesFarLess) {
  ASSERT_OK_AND_ASSIGN(const std::string note, Fit(300));
  EXPECT_EQ(source_.flops, kUsualFlops);
  EXPECT_THAT(asked_, ElementsAre(plan_.MostSecondsOfLarger(300, 1)));
  ASSERT_TRUE(source_.larger);
  EXPECT_GT(Work(source_.larger->options), 2 * Work(usual_));
  EXPECT_DOUBLE_EQ(source_.larger->seconds, 300 * Work(source_.larger->options) / Work(usual_)) << "as was measured";
  EXPECT_THAT(note, HasSubstr("what train chooses takes about 5:00 min: one candidate is larger, about "));
}

TEST_F(FitCandidatesTest, WhereLittleTimeIsLeftNoneIsLarger) {
  ASSERT_OK_AND_ASSIGN(const std::string note, Fit(610));
  EXPECT_EQ(note, "");
  EXPECT_FALSE(source_.larger);
  EXPECT_THAT(measured_, SizeIs(1));
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(FitCandidatesTest, ALargerOneThatIsTrainedTwiceTakesHalf) {
  ASSERT_OK(Fit(200, /*times=*/2));
  EXPECT_TRUE(source_.larger);
  EXPECT_THAT(asked_, ElementsAre(plan_.MostSecondsOfLarger(200, 2)));
  ASSERT_OK(Fit(400, /*times=*/2));
  EXPECT_FALSE(source_.larger) << "the time is too short";
  ASSERT_OK(Fit(200, /*times=*/0));
  EXPECT_FALSE(source_.larger);
}

TEST_F(FitCandidatesTest, InAShortTimeNoneIsMeasured) {
  const TimePlan plan(18);
  int choices = 0;
  ASSERT_OK(FitCandidates(source_, plan, /*times=*/1,
                          {.seconds = [](const TrainOptions&) { return 1.0; },
                           .choice =
                               [&](double) {
                                 ++choices;
                                 return Chosen(10 * kUsualFlops);
                               }}));
  EXPECT_EQ(choices, 0);
}

TEST_F(FitCandidatesTest, WhatHasNoLargerSizesIsNotMeasured) {
  SetFacts({.nodes = 40, .edges = 400, .relations = 3, .query_share = 0.5});
  ASSERT_OK(Fit(20));
  EXPECT_FALSE(source_.larger);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(FitCandidatesTest, ALargerOneHasLargerSizesAndTakesLonger) {
  TrainOptions larger = usual_;
  double seconds = 140;
  const auto fit = [&] {
    source_.larger.reset();
    int measured = 0;
    return FitCandidates(source_, plan_, /*times=*/1,
                         {.seconds = [&](const TrainOptions&) { return measured++ == 0 ? 100.0 : seconds; },
                          .choice = [&](double) { return larger; }});
  };
  larger.epochs *= 4;
  ASSERT_OK(fit());
  EXPECT_FALSE(source_.larger) << "epochs alone";
  larger.negatives = 0;
  ASSERT_OK(fit());
  EXPECT_TRUE(source_.larger);
  seconds = 120;
  ASSERT_OK(fit());
  EXPECT_FALSE(source_.larger) << "as fast, by measurements that differ";
}

TEST_F(FitCandidatesTest, OnlyAStopOrAFailureOfTheChoiceIsAnError) {
  const absl::Status stop = absl::CancelledError("interrupted");
  const absl::Status failure = absl::InternalError("no memory");
  for (const absl::Status& error : {stop, failure}) {
    const absl::Status expected = error == stop ? stop : absl::OkStatus();
    for (const int failing : {1, 2, 3}) {
      int calls = 0;
      const auto fails = [&] { return ++calls == failing; };
      const CandidateMeasures measures = {.seconds = [&](const TrainOptions&) -> absl::StatusOr<double> {
                                            if (fails()) return error;
                                            return 100.0 * calls;
                                          },
                                          .choice = [&](double) -> absl::StatusOr<TrainOptions> {
                                            if (fails()) return error;
                                            return Chosen(10 * kUsualFlops);
                                          }};
      EXPECT_EQ(FitCandidates(source_, plan_, /*times=*/1, measures).status(), failing == 1 ? error : expected);
      EXPECT_EQ(calls, failing);
      EXPECT_FALSE(source_.larger);
    }
  }
}

TEST_F(FitCandidatesTest, AChoiceThatTakesLongGetsSmallerAndNoneIsLarger) {
  ASSERT_OK_AND_ASSIGN(const std::string note, Fit(2000));
  EXPECT_LT(source_.flops, 0.5 * kUsualFlops);
  EXPECT_FALSE(source_.larger);
  EXPECT_THAT(note, HasSubstr("the candidates are smaller, about 15:00 min each"));
}

TEST_F(FitCandidatesTest, WalksHaveNoLargerCandidate) {
  SetFacts({.nodes = 10'000, .edges = 60'000, .relations = 1, .query_share = 0.5});
  ASSERT_EQ(usual_.model, ModelKind::kDot);
  EXPECT_OK(Fit(10));
  EXPECT_FALSE(source_.larger);
}

}  // namespace
}  // namespace octavo
