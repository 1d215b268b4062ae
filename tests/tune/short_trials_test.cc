#include "tune/short_trials.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "gtest/gtest.h"
#include "run/trained_run.h"
#include "tests/support/expect_status.h"
#include "tests/train/tiny_training.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

CandidateSource SourceOf(std::uint64_t nodes, std::uint64_t edges) {
  CandidateSource source;
  source.facts = {.nodes = nodes, .edges = edges, .relations = 4, .query_share = 0.5};
  source.graph.node_count = nodes;
  source.graph.relation_count = 4;
  source.graph.has_relations = true;
  source.graph.partition_rows = (nodes / 64 / kPartitionRowQuantum + 1) * kPartitionRowQuantum;
  source.graph.partition_count = static_cast<std::uint32_t>((nodes - 1) / source.graph.partition_rows + 1);
  source.graph.train_edges = edges;
  source.graph.valid_edges = 100;
  source.memory = std::uint64_t{4} << 30;
  return source;
}

std::vector<ShortTrial> TrialsFor(const CandidateSource& source, std::uint64_t most = kMostChanges) {
  const Choice choice = ChooseOptions(source.facts, source.graph, source.memory, source.options, source.given);
  return MakeShortTrials(source, choice, most);
}

std::vector<std::string> ChangesFor(const CandidateSource& source) {
  std::vector<std::string> changes;
  for (const ShortTrial& trial : TrialsFor(source)) changes.push_back(trial.change);
  return changes;
}

TEST(MakeShortTrialsTest, TheChoiceIsFirstAndTheOthersChangeIt) {
  const CandidateSource source = SourceOf(800, 2600);
  const Choice choice = ChooseOptions(source.facts, source.graph, source.memory, {}, {});
  const std::vector<ShortTrial> trials = TrialsFor(source);
  ASSERT_EQ(trials.size(), 5U);
  EXPECT_EQ(DifferenceText(trials[0].options, choice.options), "");
  EXPECT_EQ(trials[0].change, "");
  EXPECT_EQ(trials[0].epochs, choice.options.epochs / 3);
  EXPECT_NEAR(trials[1].options.regularization, choice.options.regularization / 5, 1e-4);
  EXPECT_NEAR(trials[2].options.learning_rate, choice.options.learning_rate * 2.5, 1e-9);
  EXPECT_EQ(trials[3].change, "model rescal, block 8");
  EXPECT_EQ(trials[4].change, "relation-prediction 4");
  for (const ShortTrial& trial : trials) {
    EXPECT_EQ(trial.options.epochs, choice.options.epochs) << "those of the whole training";
  }
}

TEST(MakeShortTrialsTest, FewNodesHaveBlocksAndAreComparedWithComplex) {
  const std::vector<ShortTrial> trials = TrialsFor(SourceOf(200, 2600));
  ASSERT_EQ(trials.size(), 5U);
  EXPECT_EQ(trials[0].options.model, ModelKind::kRescal);
  EXPECT_EQ(trials[3].options.model, ModelKind::kComplEx);
  EXPECT_EQ(trials[3].options.relation_prediction, 0);
  EXPECT_EQ(trials[4].options.model, ModelKind::kComplEx);
  EXPECT_EQ(trials[4].options.relation_prediction, 4);
}

TEST(MakeShortTrialsTest, OneRelationIsNotPredicted) {
  CandidateSource source = SourceOf(800, 2600);
  source.facts.relations = 1;
  source.facts.two_kinds = true;
  for (const ShortTrial& trial : TrialsFor(source)) EXPECT_EQ(trial.options.relation_prediction, 0);
  EXPECT_EQ(TrialsFor(source).size(), 4U);
}

TEST(MakeShortTrialsTest, WhatIsGivenStays) {
  CandidateSource source = SourceOf(800, 2600);
  source.options.learning_rate = 0.3;
  source.options.model = ModelKind::kComplEx;
  source.given = {"learning-rate", "model"};
  EXPECT_EQ(ChangesFor(source).size(), 3U);
  source.options.regularization = 0.1;
  source.given.emplace("regularization");
  EXPECT_EQ(ChangesFor(source).size(), 2U);
  source.given.emplace("relation-prediction");
  EXPECT_EQ(ChangesFor(source).size(), 0U) << "nothing is left to change";
}

TEST(MakeShortTrialsTest, WithoutValidEdgesThereMustBeEnoughToHoldOut) {
  CandidateSource source = SourceOf(200, 1000);
  source.graph.valid_edges = 0;
  EXPECT_EQ(ChangesFor(source).size(), 5U);
  source = SourceOf(200, 999);
  EXPECT_EQ(ChangesFor(source).size(), 5U);
  source.graph.valid_edges = 0;
  EXPECT_EQ(ChangesFor(source).size(), 0U);
}

TEST(MakeShortTrialsTest, NoneForManyNodes) {
  CandidateSource source = SourceOf(20'001, 3000);
  source.options.dim = 16;
  source.options.epochs = 3;
  source.given = {"dim", "epochs"};
  EXPECT_EQ(ChangesFor(source).size(), 0U);
  source = SourceOf(20'000, 3000);
  source.options.dim = 16;
  source.options.epochs = 3;
  source.given = {"dim", "epochs"};
  EXPECT_EQ(ChangesFor(source).size(), 2U);
}

TEST(MakeShortTrialsTest, NoneForMuchWork) {
  CandidateSource source = SourceOf(800, 2600);
  EXPECT_EQ(TrialsFor(source, 0).size(), 0U);
  EXPECT_EQ(TrialsFor(source, 2).size(), 3U);
  EXPECT_EQ(ChangesFor(SourceOf(15'000, 270'000)).size(), 0U);
  source = SourceOf(800, 2600);
  source.options.epochs = 1;
  source.given = {"epochs"};
  EXPECT_EQ(ChangesFor(source).size(), 5U);
}

TEST(MakeShortTrialsTest, AsManyAsTheWorkAllows) {
  const CandidateSource source = SourceOf(800, 2600);
  Choice choice = ChooseOptions(source.facts, source.graph, source.memory, source.options, source.given);
  const auto trials_for = [&](double share) {
    choice.flops = share * kUsualFlops;
    return MakeShortTrials(source, choice, kMostChanges).size();
  };
  // The training and a third of it for each trial.
  EXPECT_EQ(trials_for(1 / 2.7), 5U);
  EXPECT_EQ(trials_for(1 / 2.5), 4U);
  EXPECT_EQ(trials_for(1 / 1.7), 2U);
  EXPECT_EQ(trials_for(1 / 1.6), 0U);
  EXPECT_EQ(ChangesFor(SourceOf(4900, 600'000)).size(), 3U) << "more would cost more than 70 TFLOP";
}

TEST(TrialToTakeTest, ChanceDoesNotDecide) {
  std::vector<ShortTrial> trials(3);
  for (ShortTrial& trial : trials) trial = {.scores = {.mrr = 0.5}, .samples = 200};
  EXPECT_EQ(TrialToTake(trials), 0U);
  trials[2].scores.mrr = 0.514;  // 0.3 / sqrt(400) is 0.015
  EXPECT_EQ(TrialToTake(trials), 0U);
  trials[2].scores.mrr = 0.516;
  EXPECT_EQ(TrialToTake(trials), 2U);
  trials[1].scores.mrr = 0.52;
  EXPECT_EQ(TrialToTake(trials), 1U);
  trials[0].scores = {};  // diverged
  EXPECT_EQ(TrialToTake(trials), 1U);
  for (ShortTrial& trial : trials) trial.scores = {};
  EXPECT_EQ(TrialToTake(trials), 0U);
}

class MakeCombinedTrialTest : public ::testing::Test {
 protected:
  // The trials of the choice and of a lower weight, a higher rate and blocks, with these MRRs of the valid edges;
  // others have that of the choice.
  std::vector<ShortTrial> TrialsWith(const std::vector<double>& mrrs) const {
    std::vector<ShortTrial> trials = MakeShortTrials(source_, choice_, kMostChanges);
    for (std::size_t t = 0; t < trials.size(); ++t) {
      trials[t].scores.mrr = t < mrrs.size() ? mrrs[t] : mrrs[0];
      trials[t].samples = 200;
    }
    return trials;
  }
  std::string ChangeFor(const std::vector<double>& mrrs) const {
    const std::optional<ShortTrial> trial = MakeCombinedTrial(source_, choice_, TrialsWith(mrrs));
    return trial ? trial->change : "none";
  }
  TrainOptions weight_and_rate() const {
    const std::vector<ShortTrial> trials = MakeShortTrials(source_, choice_, kMostChanges);
    TrainOptions options = choice_.options;
    options.regularization = trials[1].options.regularization;
    options.learning_rate = trials[2].options.learning_rate;
    return options;
  }

  CandidateSource source_ = SourceOf(800, 2600);
  Choice choice_ = ChooseOptions(source_.facts, source_.graph, source_.memory, {}, {});
};

TEST_F(MakeCombinedTrialTest, CombinesTheTwoBestThatAreClearlyBetter) {
  EXPECT_EQ(ChangeFor({0.5, 0.6, 0.6, 0.5}), DifferenceText(weight_and_rate(), choice_.options));
  EXPECT_EQ(ChangeFor({0.5, 0.6, 0.7, 0.65}), "model rescal, block 8, learning-rate 0.5");
  EXPECT_EQ(ChangeFor({0.5, 0.51, 0.7, 0.5}), "none") << "0.01 is chance";
  EXPECT_EQ(ChangeFor({0.5, 0.5, 0.5, 0.5}), "none");
}

TEST_F(MakeCombinedTrialTest, HasAllOptionsAndEpochsOfBoth) {
  const std::vector<ShortTrial> trials = TrialsWith({0.5, 0.6, 0.7, 0.5});
  const std::optional<ShortTrial> combined = MakeCombinedTrial(source_, choice_, trials);
  ASSERT_TRUE(combined);
  EXPECT_EQ(DifferenceText(combined->options, weight_and_rate()), "");
  EXPECT_EQ(combined->epochs, trials[0].epochs);
}

TEST_F(MakeCombinedTrialTest, NoneOfTooMuchWork) {
  const std::vector<ShortTrial> trials = TrialsWith({0.5, 0.6, 0.7, 0.5});
  choice_.flops = kUsualFlops / 2.7;  // the trials and the training cost 2.67 times as much, and with one more 3
  EXPECT_FALSE(MakeCombinedTrial(source_, choice_, trials));
  choice_.flops = kUsualFlops / 3.1;
  EXPECT_TRUE(MakeCombinedTrial(source_, choice_, trials));
}

class RunShortTrialTest : public ::testing::Test {
 protected:
  RunShortTrialTest() {
    trial_.options = TinyOptions();
    trial_.options.epochs = 6;
    trial_.epochs = 2;
    std::filesystem::create_directory(folder());
  }
  std::filesystem::path folder() const { return training_.run_folder("trials"); }
  absl::Status Run(const std::function<bool()>& stop = [] { return false; }) {
    const TrainSettings settings = {.threads = threads_,
                                    .memory = memory_,
                                    .validate = [this](const std::filesystem::path& run, const TrainOptions& options,
                                                       std::uint64_t) -> absl::StatusOr<ValidationScores> {
                                      trained_ = options;
                                      ASSIGN_OR_RETURN(const TrainedRun opened, OpenTrainedRun(run));
                                      const auto epochs = static_cast<double>(opened.epochs_done);
                                      return ValidationScores{.mrr = epochs / 10, .triples = 5};
                                    }};
    return RunShortTrial(training_.graph_folder(), folder(), settings, {}, stop, trial_);
  }

  const TinyTraining training_{{.valid_share = 0.1}};
  ShortTrial trial_;
  TrainOptions trained_;  // by the last trial
  int threads_ = 1;
  std::uint64_t memory_ = kPlenty;
};

TEST_F(RunShortTrialTest, TrainsItsEpochsAndLeavesNothing) {
  ASSERT_OK(Run());
  EXPECT_EQ(trial_.scores.mrr, 0.2);
  EXPECT_EQ(trial_.samples, 5U);
  EXPECT_EQ(trial_.options.epochs, 6U) << "the options stay those of the whole training";
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

// A trial that failed for many threads only would make the choice depend on their number.
TEST_F(RunShortTrialTest, NeedsTheMemoryOfFewThreads) {
  constexpr int kTooMany = 1'000'000;
  const auto graph = Graph::Open(training_.graph_folder());
  ASSERT_OK(graph);
  memory_ = std::uint64_t{1} << 30;
  EXPECT_GT(EstimateTrainingMemory(trial_.options, (*graph)->description(), kTooMany, {1, 1}).total(), memory_);
  threads_ = kTooMany;
  EXPECT_OK(Run());
}

TEST_F(RunShortTrialTest, WhatNeedsValidationsIsLeftOut) {
  trial_.options.validate_every = 3;
  trial_.options.validation_sample = 2;
  trial_.options.patience = 3;
  trial_.options.keep = Keep::kBest;
  trial_.options.warmup_epochs = 3;
  trial_.options.learning_rate_schedule = LearningRateSchedule::kPlateau;
  ASSERT_OK(Run());
  EXPECT_EQ(trial_.scores.mrr, 0.2);
  EXPECT_EQ(trial_.options.patience, 3U);
  EXPECT_EQ(trained_.warmup_epochs, 1) << "the same share of the epochs";
  EXPECT_EQ(trained_.learning_rate_schedule, LearningRateSchedule::kLinear);
  EXPECT_EQ(trained_.validate_every, 0U);
}

TEST_F(RunShortTrialTest, ADivergingTrialHasNoScores) {
  trial_.options.optimizer = OptimizerKind::kSgd;
  trial_.options.learning_rate = 1000;
  trial_.options.learning_rate_schedule = LearningRateSchedule::kConstant;
  trial_.options.initial_scale = 10;
  trial_.options.epochs = 300;
  trial_.epochs = 100;
  trial_.scores.mrr = 0.5;
  ASSERT_OK(Run());
  EXPECT_TRUE(trial_.diverged);
  EXPECT_EQ(trial_.scores.mrr, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(RunShortTrialTest, AStopEndsIt) {
  EXPECT_TRUE(absl::IsCancelled(Run([] { return true; })));
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(RunShortTrialTest, AsManyAsFitInTheTime) {
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training_.graph_folder()));
  const std::vector<ShortTrial> trials(4, trial_);
  ASSERT_OK_AND_ASSIGN(const TimedTrials all, TrialsWithin(1e9, trials, *graph, folder(), memory_, threads_));
  EXPECT_EQ(all.trials.size(), 4U);
  EXPECT_GT(all.seconds, 0);
  EXPECT_LT(all.seconds, 1e9);
  // The machine's speed changes, but not a thousandfold.
  std::vector<ShortTrial> longer = trials;
  longer[2].epochs *= 1'000'000;
  ASSERT_OK_AND_ASSIGN(const TimedTrials two,
                       TrialsWithin(1000 * all.seconds, longer, *graph, folder(), memory_, threads_));
  EXPECT_EQ(two.trials.size(), 2U);
  longer[1].epochs *= 1'000'000;
  ASSERT_OK_AND_ASSIGN(const TimedTrials none,
                       TrialsWithin(1000 * all.seconds, longer, *graph, folder(), memory_, threads_));
  EXPECT_EQ(none.trials.size(), 0U) << "one compares nothing";
  EXPECT_EQ(none.seconds, 0);
  ASSERT_OK_AND_ASSIGN(const TimedTrials empty, TrialsWithin(1e9, {}, *graph, folder(), memory_, threads_));
  EXPECT_EQ(empty.trials.size(), 0U);
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

}  // namespace
}  // namespace octavo
