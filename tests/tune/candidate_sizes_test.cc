#include "tune/candidate_sizes.h"

#include <string>
#include <vector>

#include "choose/choice.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/choose/made_up_facts.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;
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
  absl::StatusOr<std::string> Fit(double usual, double slowdown = 1, int times = 1) {
    measured_.clear();
    return FitCandidates(source_, plan_, times, [&](const TrainOptions& options) {
      measured_.push_back(options);
      const double seconds = usual * Work(options) / Work(usual_);
      return absl::StatusOr<double>(measured_.size() == 1 ? seconds : slowdown * seconds);
    });
  }

  const TimePlan plan_{3600};
  CandidateSource source_;
  TrainOptions usual_;
  std::vector<TrainOptions> measured_;
};

TEST_F(FitCandidatesTest, ACandidateIsLargerWhereTheChoiceTakesFarLess) {
  ASSERT_OK_AND_ASSIGN(const std::string note, Fit(300));
  EXPECT_EQ(source_.flops, kUsualFlops);
  EXPECT_GE(source_.larger_flops, 3 * kUsualFlops);
  EXPECT_NEAR(source_.larger_seconds, 300 * Work(Chosen(source_.larger_flops)) / Work(usual_), 1);
  EXPECT_THAT(measured_, SizeIs(2));
  EXPECT_GT(Work(MakeCandidates(source_, 2)[1]), 2 * Work(usual_));
  EXPECT_THAT(note, HasSubstr("what train chooses takes about 5:00 min: one candidate is larger, about "));
}

TEST_F(FitCandidatesTest, WhereLittleTimeIsLeftNoneIsLarger) {
  ASSERT_OK_AND_ASSIGN(const std::string note, Fit(610));
  EXPECT_EQ(note, "");
  EXPECT_EQ(source_.larger_flops, 0);
  EXPECT_THAT(measured_, SizeIs(1));
}

TEST_F(FitCandidatesTest, ALargerOneThatIsTrainedTwiceTakesHalf) {
  ASSERT_OK(Fit(200, /*slowdown=*/1, /*times=*/2));
  EXPECT_GT(source_.larger_flops, 0);
  EXPECT_LE(source_.larger_seconds, 1.2 * plan_.MostSecondsOfLarger(200, 2));
  source_.larger_flops = 0;
  ASSERT_OK(Fit(400, /*slowdown=*/1, /*times=*/2));
  EXPECT_EQ(source_.larger_flops, 0) << "the time is too short";
  ASSERT_OK(Fit(200, /*slowdown=*/1, /*times=*/0));
  EXPECT_EQ(source_.larger_flops, 0);
}

TEST_F(FitCandidatesTest, WhereMoreCostChangesNothingNoneIsLarger) {
  SetFacts({.nodes = 40, .edges = 400, .relations = 3, .query_share = 0.5});
  EXPECT_OK(Fit(1));
  EXPECT_EQ(source_.larger_flops, 0);
  EXPECT_THAT(measured_, SizeIs(1));
}

TEST_F(FitCandidatesTest, TheLargerOneFollowsItsMeasurement) {
  ASSERT_OK(Fit(300));
  const double work = Work(measured_.back());
  EXPECT_EQ(Work(Chosen(source_.larger_flops)), work);
  source_.larger_flops = 0;
  ASSERT_OK(Fit(300, /*slowdown=*/1.1));
  EXPECT_EQ(Work(Chosen(source_.larger_flops)), work) << "a little more time is not worth smaller sizes";
  ASSERT_OK(Fit(300, /*slowdown=*/2.5));
  EXPECT_LT(Work(Chosen(source_.larger_flops)), work);
  EXPECT_NEAR(source_.larger_seconds, 2.5 * 300 * Work(Chosen(source_.larger_flops)) / Work(usual_), 1);
  source_.larger_flops = 0;
  ASSERT_OK(Fit(300, /*slowdown=*/8));
  EXPECT_EQ(source_.larger_flops, 0) << "it would be smaller than the choice";
}

TEST_F(FitCandidatesTest, OnlyAStopOrAFailureOfTheChoiceIsAnError) {
  absl::Status second = absl::InternalError("no memory");
  int calls = 0;
  const auto measure = [&](const TrainOptions&) -> absl::StatusOr<double> {
    if (calls++ == 0) return 100.0;
    return second;
  };
  EXPECT_OK(FitCandidates(source_, plan_, /*times=*/1, measure));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(source_.larger_flops, 0);
  calls = 0;
  second = absl::CancelledError("interrupted");
  EXPECT_EQ(FitCandidates(source_, plan_, /*times=*/1, measure).status(), second);
  calls = 1;
  second = absl::InternalError("no memory");
  EXPECT_EQ(FitCandidates(source_, plan_, /*times=*/1, measure).status(), second);
}

TEST_F(FitCandidatesTest, AChoiceThatTakesLongGetsSmallerAndNoneIsLarger) {
  ASSERT_OK_AND_ASSIGN(const std::string note, Fit(2000));
  EXPECT_LT(source_.flops, 0.5 * kUsualFlops);
  EXPECT_EQ(source_.larger_flops, 0);
  EXPECT_THAT(note, HasSubstr("the candidates are smaller, about 15:00 min each"));
}

TEST_F(FitCandidatesTest, WalksHaveNoLargerCandidate) {
  SetFacts({.nodes = 10'000, .edges = 60'000, .relations = 1, .query_share = 0.5});
  ASSERT_EQ(usual_.model, ModelKind::kDot);
  EXPECT_OK(Fit(10));
  EXPECT_EQ(source_.larger_flops, 0);
}

}  // namespace
}  // namespace octavo
