#include "choose/timed_choice.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/option_rules.h"
#include "run/trained_edges.h"
#include "tests/choose/made_up_facts.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kAmpleMemory = std::uint64_t{16} << 30;

// A machine of `speed` products of a dimension and a negative a second, whose edges cost something without any, too. A
// measurement takes two seconds, the longer one three.
class FakeMachine : public TimedMachine {
 public:
  FakeMachine(const GraphFacts& facts, double seconds, double speed)
      : facts_(facts), seconds_(seconds), left_(0.95 * seconds), speed_(speed) {}

  double Left() override { return left_ - (longer.empty() ? 3 : 0); }
  absl::StatusOr<TrainingCost> Measure(const TrainOptions& options) override {
    ++measured;
    left_ -= 2;
    asked.push_back(options.negatives);
    if (measured == refused) return UsageError("more negatives than memory");
    return CostOf(options, (walked_ ? walked_share : 1) * (measured <= slow_first ? slowness : 1));
  }
  absl::StatusOr<TrainingCost> MeasureLonger(const TrainOptions& options) override {
    left_ -= 3;
    longer.push_back(options);
    if (!longer_status.ok()) return longer_status;
    return CostOf(options, walked_ ? walked_share : 1);
  }
  absl::StatusOr<TrainingCost> MeasureWalks(const TrainOptions& options) override {
    left_ -= 2 * walk_seconds;
    walked_ = true;
    return CostOf(options, walked_share);
  }

  // The share of the time after which a training with the choice ends.
  double EndOf(const Choice& choice) const {
    const bool walks = choice.options.walk != Walk::kNone;
    const TrainingCost cost = CostOf(choice.options, walks ? walked_share : 1);
    const double used = 0.95 * seconds_ - left_;
    return (used + cost.outside + static_cast<double>(choice.options.epochs) * cost.epoch) / seconds_;
  }

  int measured = 0;
  int refused = 0;     // the measurement that fails
  int slow_first = 0;  // so many measurements find the machine slower by `slowness` than it then is
  double slowness = 1.5;
  std::vector<std::uint64_t> asked;  // negatives of each measurement
  std::vector<TrainOptions> longer;  // those of the longer measurements
  absl::Status longer_status;
  double walked_share = 1;
  double walk_seconds = 1;

 private:
  TrainingCost CostOf(const TrainOptions& options, double share) const {
    const std::uint64_t negatives = options.negatives == 0 ? facts_.nodes : options.negatives;
    const double edge = static_cast<double>(options.dim * negatives) + 20'000;
    const auto edges = static_cast<double>(MostTrainedEdges(options, DescriptionOf(facts_)));
    return {.epoch = share * edges * edge / speed_, .outside = 0.5};
  }

  const GraphFacts facts_;
  const double seconds_;
  double left_;
  const double speed_;
  bool walked_ = false;
};

absl::StatusOr<Choice> Choose(FakeMachine& machine, const GraphFacts& facts, const TrainOptions& options = {},
                              const GivenOptions& given = {}) {
  return ChooseForMachine(facts, DescriptionOf(facts), kAmpleMemory, options, given, machine, "a time");
}

TEST(ChooseForMachineTest, TheTimeIsFilledWithWholeEpochs) {
  GraphFacts predicted = Facts(15'000, 270'000, 237);
  predicted.query_share = 0.28;
  std::set<std::uint64_t> negatives_of_predicted;
  for (const double seconds : {60.0, 300.0, 1200.0, 7200.0}) {
    for (const double speed : {3e9, 1e10, 4e10}) {
      for (const GraphFacts& facts :
           {Facts(15'000, 270'000, 237), predicted, Facts(870'000, 38'000'000, 8), Facts(870'000, 33'000'000, 1)}) {
        FakeMachine machine(facts, seconds, speed);
        machine.walked_share = 0.9;
        ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(machine, facts));
        const bool too_long = choice.chosen.find("less than an epoch") != std::string::npos;
        EXPECT_LE(machine.EndOf(choice), too_long ? 20 : 1.06) << choice.chosen;
        const std::uint64_t most_epochs =
            kMostRepeats * ChooseOptions(facts, DescriptionOf(facts), kAmpleMemory, {}, {}).options.epochs;
        const bool soon_trained = facts.relations > 1 && choice.options.epochs == most_epochs;
        EXPECT_GE(machine.EndOf(choice), soon_trained ? 0 : 0.85) << choice.chosen;
        EXPECT_TRUE(!too_long || choice.options.epochs == 1) << choice.chosen;
        EXPECT_OK(ValidateTrainOptions(choice.options));
        EXPECT_EQ(choice.options.learning_rate, RateFor(choice.options, facts)) << choice.chosen;
        // The text is that of the final choice.
        EXPECT_THAT(choice.chosen, HasSubstr(fmt::format("--epochs {} ", choice.options.epochs)));
        const std::string negatives = choice.options.negatives == 0 ? "all" : std::to_string(choice.options.negatives);
        EXPECT_THAT(choice.chosen, HasSubstr(fmt::format("--negatives {} ", negatives)));
        EXPECT_THAT(choice.reasons, HasSubstr(fmt::format("{} negatives", negatives)));
        if (choice.options.relation_prediction > 0) negatives_of_predicted.emplace(choice.options.negatives);
      }
    }
  }
  EXPECT_THAT(negatives_of_predicted, testing::IsSupersetOf({0, 4000})) << "all of them in much time";
}

// The short ones hit a busy moment, or an idle one. Many epochs, and few, where the negatives are adapted.
TEST(ChooseForMachineTest, TheEpochsFollowTheLongerMeasurement) {
  for (const GraphFacts& facts : {Facts(15'000, 270'000, 237), Facts(870'000, 38'000'000, 8)}) {
    for (const double slowness : {0.7, 1.4}) {
      FakeMachine machine(facts, 600, 1e10);
      machine.slow_first = 100;
      machine.slowness = slowness;
      ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(machine, facts));
      EXPECT_LE(machine.EndOf(choice), 1.0) << choice.chosen;
      EXPECT_GE(machine.EndOf(choice), 0.85) << choice.chosen;
      ASSERT_EQ(machine.longer.size(), 1U);
      EXPECT_EQ(machine.longer[0].dim, choice.options.dim);
      EXPECT_GE(machine.longer[0].negatives, choice.options.negatives);
    }
  }
}

TEST(ChooseForMachineTest, AStopDuringTheLongerMeasurementEndsAndAnErrorDoesNot) {
  const GraphFacts facts = Facts(15'000, 270'000, 237);
  FakeMachine stopped(facts, 300, 1e10);
  stopped.longer_status = absl::CancelledError("interrupted");
  EXPECT_TRUE(absl::IsCancelled(Choose(stopped, facts).status()));
  FakeMachine failing(facts, 300, 1e10);
  failing.longer_status = UsageError("the loss is not finite");
  ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(failing, facts));
  EXPECT_LE(failing.EndOf(choice), 1.0) << choice.chosen;
  EXPECT_GE(failing.EndOf(choice), 0.9) << choice.chosen;
}

TEST(ChooseForMachineTest, WhatShortTrainingsFoundStaysAndIsShown) {
  const GraphFacts facts = Facts(2000, 20'000, 5);
  TrainOptions options;
  options.regularization = 0.003;
  options.learning_rate = 0.7;
  FakeMachine machine(facts, 60, 1e10);
  ASSERT_OK_AND_ASSIGN(const Choice choice,
                       ChooseForMachine(facts, DescriptionOf(facts), kAmpleMemory, options,
                                        {"regularization", "learning-rate"}, machine, "a time", {"regularization"}));
  EXPECT_EQ(choice.options.regularization, 0.003);
  EXPECT_FLOAT_EQ(static_cast<float>(choice.options.learning_rate), 0.7F);
  EXPECT_THAT(choice.chosen, HasSubstr("--regularization 0.003 "));
  EXPECT_THAT(choice.chosen, Not(HasSubstr("--learning-rate "))) << "given";
}

TEST(ChooseForMachineTest, GivenNegativesStayAndTheTrainingDoesNotEndLate) {
  const GraphFacts facts = Facts(870'000, 38'000'000, 8);
  TrainOptions given;
  given.negatives = 1000;
  given.dim = 64;
  // An epoch takes two thirds of the time that is left.
  FakeMachine machine(facts, 600, 38e6 * 84'000 / 350);
  ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(machine, facts, given, {"negatives", "dim"}));
  EXPECT_EQ(choice.options.negatives, 1000U);
  EXPECT_EQ(choice.options.epochs, 1U);
  EXPECT_LE(machine.EndOf(choice), 1.02);
}

TEST(ChooseForMachineTest, NegativesThatDoNotFitInMemoryAreNotTaken) {
  const GraphFacts facts = Facts(870'000, 38'000'000, 8);
  int raised = 0;
  for (double speed = 3e9; speed < 3e11; speed *= 1.1) {
    FakeMachine roomy(facts, 600, speed);
    ASSERT_OK(Choose(roomy, facts));
    const std::size_t last = roomy.asked.size() - 1;
    if (4000 % roomy.asked[last] == 0 || roomy.asked[last] <= roomy.asked[last - 1]) continue;
    ++raised;
    FakeMachine tight(facts, 600, speed);
    tight.refused = roomy.measured;
    ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(tight, facts));
    EXPECT_LE(choice.options.negatives, *std::max_element(roomy.asked.begin(), roomy.asked.end() - 1));
    EXPECT_LE(tight.EndOf(choice), 1.05);
  }
  EXPECT_GT(raised, 0);
}

TEST(ChooseForMachineTest, PairsThatMetBeforeAreNotCounted) {
  const GraphFacts facts = Facts(870'000, 33'000'000, 1);
  FakeMachine all(facts, 1200, 1e10);
  ASSERT_OK_AND_ASSIGN(const Choice with_all, Choose(all, facts));
  FakeMachine half(facts, 1200, 1e10);
  half.walked_share = 0.5;
  ASSERT_OK_AND_ASSIGN(const Choice with_half, Choose(half, facts));
  EXPECT_EQ(with_half.options.walk_length, with_all.options.walk_length);
  EXPECT_NEAR(static_cast<double>(with_half.options.epochs) / static_cast<double>(with_all.options.epochs), 2, 0.15);
  EXPECT_GT(half.EndOf(with_half), 0.82);
  // Walks that take long leave less time for epochs.
  FakeMachine slow(facts, 1200, 1e10);
  slow.walk_seconds = 150;
  ASSERT_OK_AND_ASSIGN(const Choice after_walks, Choose(slow, facts));
  EXPECT_LT(after_walks.options.epochs, with_all.options.epochs);
  EXPECT_LE(slow.EndOf(after_walks), 1.02);
}

TEST(ChooseForMachineTest, AMachineThatGetsFasterDoesNotEndFarTooEarly) {
  const GraphFacts facts = Facts(870'000, 33'000'000, 1);
  int adapted = 0;
  for (double speed = 1e10; speed < 3e10; speed *= 1.1) {
    FakeMachine machine(facts, 60, speed);
    machine.walked_share = 0.95;
    machine.slow_first = 3;
    ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(machine, facts));
    EXPECT_LE(machine.EndOf(choice), 1.1) << choice.chosen;
    // The third has other negatives than the second: it is the first of those that adapt them.
    if (machine.measured <= machine.slow_first || machine.asked[2] == machine.asked[1]) continue;
    ++adapted;
    EXPECT_GE(machine.EndOf(choice), 0.8) << choice.chosen;
  }
  EXPECT_GT(adapted, 0);
}

// The pairs, or the time that it took to count them, can leave less than an epoch of the first choice.
TEST(ChooseForMachineTest, WalksAreShorterIfTheirPairsLeaveLessThanAnEpoch) {
  const GraphFacts facts = Facts(870'000, 33'000'000, 1);
  const GraphDescription graph = DescriptionOf(facts);
  int shortened = 0;
  for (double speed = 1e10; speed < 4e10; speed *= 1.1) {
    FakeMachine quick(facts, 64, speed);
    quick.walk_seconds = 0;
    ASSERT_OK_AND_ASSIGN(const Choice before, Choose(quick, facts));
    FakeMachine slow(facts, 64, speed);
    slow.walk_seconds = 6;
    ASSERT_OK_AND_ASSIGN(const Choice after, Choose(slow, facts));
    EXPECT_LE(after.options.epochs * MostTrainedEdges(after.options, graph),
              before.options.epochs * MostTrainedEdges(before.options, graph));
    EXPECT_LE(slow.EndOf(after), 1.06) << after.chosen;
    EXPECT_GE(slow.EndOf(after), 0.8) << after.chosen;
    const bool shorter = MostTrainedEdges(after.options, graph) < MostTrainedEdges(before.options, graph);
    if (shorter) ++shortened;
  }
  EXPECT_GT(shortened, 0);
}

TEST(ChooseForMachineTest, ATimeShorterThanTheMeasurementsGetsTheSmallestChoice) {
  const GraphFacts facts = Facts(15'000, 270'000, 237);
  for (const double seconds : {1.0, 4.0, 6.2}) {  // over in the first, second or third measurement
    FakeMachine machine(facts, seconds, 1e9);
    ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(machine, facts));
    EXPECT_LE(machine.measured, 3);
    EXPECT_EQ(choice.options.epochs, 1U);
    EXPECT_EQ(choice.options.dim, 32U);
    EXPECT_THAT(choice.chosen, HasSubstr("too short to measure this machine"));
    EXPECT_THAT(choice.chosen, HasSubstr("--epochs 1 "));
  }
  // The same for a choice whose sizes do not follow from the speed.
  TrainOptions given;
  given.walk = Walk::kNone;
  given.model = ModelKind::kDot;
  const GraphFacts plain = Facts(15'000, 270'000, 1);
  FakeMachine machine(plain, 2, 1e9);
  ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(machine, plain, given, {"walk", "model"}));
  EXPECT_EQ(machine.measured, 1);
  EXPECT_EQ(choice.options.epochs, 1U);
}

TEST(ChooseForMachineTest, AGraphThatIsSoonTrainedGetsAtMostFourTimesItsEpochs) {
  const GraphFacts facts = Facts(135, 5'216, 46);
  FakeMachine machine(facts, 3600, 1e12);
  ASSERT_OK_AND_ASSIGN(const Choice choice, Choose(machine, facts));
  const Choice usual = ChooseOptions(facts, DescriptionOf(facts), kAmpleMemory, {}, {});
  EXPECT_EQ(choice.options.epochs, kMostRepeats * usual.options.epochs);
}

}  // namespace
}  // namespace octavo
