#include "tune/trial_run.h"

#include <cmath>
#include <filesystem>
#include <optional>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "run/trained_run.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

// A tenth per epoch.
absl::StatusOr<ValidationScores> Rising(const std::filesystem::path& run, const TrainOptions&, std::uint64_t) {
  ASSIGN_OR_RETURN(const TrainedRun opened, OpenTrainedRun(run));
  const double epochs = static_cast<double>(opened.epochs_done);
  return ValidationScores{.mrr = epochs / 10, .hits_at_10 = epochs / 9, .triples = 5};
}

class TrialRun : public ::testing::Test {
 protected:
  TrialRun() {
    options_ = TinyOptions();
    options_.epochs = 6;
    options_.validate_every = 2;
    options_.learning_rate_schedule = LearningRateSchedule::kCosine;
    options_.optimizer = OptimizerKind::kAdam;
  }
  RunPaths run() const { return RunPaths(training_.run_folder("trial")); }
  absl::StatusOr<std::optional<ValidationScores>> To(
      std::uint64_t epoch, const std::function<bool()>& stop = [] { return false; }) {
    return TrainToEpoch(training_.graph_folder(), run(), options_, epoch, {.memory = kPlenty, .validate = Rising}, {},
                        stop);
  }
  std::uint64_t EpochsDone() const {
    const auto opened = OpenTrainedRun(run().folder());
    EXPECT_OK(opened);
    return opened.ok() ? opened->epochs_done : 0;
  }
  RunBytes Unbroken() {
    EXPECT_OK(training_.Start(options_, "unbroken", {.memory = kPlenty, .validate = Rising}));
    return ReadRunBytes(training_.run_folder("unbroken"));
  }

  const TinyTraining training_{{.valid_share = 0.1}};
  TrainOptions options_;
};

// The cosine spans six epochs from the first one on.
TEST_F(TrialRun, RungByRungIsAnUnbrokenTraining) {
  const RunBytes unbroken = Unbroken();
  for (const std::uint64_t epoch : {2U, 4U, 6U}) {
    ASSERT_OK_AND_ASSIGN(const auto scores, To(epoch));
    ASSERT_TRUE(scores.has_value());
    EXPECT_EQ(scores->mrr, static_cast<double>(epoch) / 10);
    EXPECT_EQ(scores->hits_at_10, static_cast<double>(epoch) / 9);
    EXPECT_EQ(scores->triples, 5U);
    EXPECT_EQ(EpochsDone(), epoch);
  }
  EXPECT_TRUE(ReadRunBytes(run().folder()) == unbroken);
  EXPECT_FALSE(std::filesystem::exists(run().Table(TableName::kEmbeddings, 1))) << "finished";
}

TEST_F(TrialRun, DoesNotTrainTwice) {
  ASSERT_OK(To(4));
  ASSERT_OK_AND_ASSIGN(const auto again, To(4));
  EXPECT_EQ(again->mrr, 0.4);
  EXPECT_EQ(EpochsDone(), 4U);
  ASSERT_OK_AND_ASSIGN(const auto before, To(2));
  EXPECT_EQ(before->mrr, 0.2);
  EXPECT_EQ(EpochsDone(), 4U);
  ASSERT_OK(To(6));
  ASSERT_OK_AND_ASSIGN(const auto last, To(6));
  EXPECT_EQ(last->mrr, 0.6);
}

TEST_F(TrialRun, StoppedAtAnyBatchItGoesOn) {
  const RunBytes unbroken = Unbroken();
  int stops = 0;
  for (const std::uint64_t epoch : {2U, 6U}) {
    while (true) {
      int batches = 0;
      ASSERT_OK_AND_ASSIGN(const auto scores, To(epoch, [&] { return ++batches == 3; }));
      if (scores) break;
      ASSERT_LT(++stops, 100);
    }
    EXPECT_EQ(EpochsDone(), epoch);
  }
  EXPECT_GT(stops, 4);
  EXPECT_TRUE(ReadRunBytes(run().folder()) == unbroken);
}

TEST_F(TrialRun, FailedAnywhereItGoesOn) {
  const RunBytes unbroken = Unbroken();
  for (const std::string failure : {"train.batch:1", "train.batch:6", "train.validate:1", "commit.C2:1", "commit.C5:1",
                                    "commit.C5:2", "commit.C6:3", "commit.C7:1", "finish.remove:1"}) {
    int failures = 0;
    for (const std::uint64_t epoch : {2U, 4U, 6U}) {
      ASSERT_OK(SetFailpoints(failure + "=eio"));
      failures += To(epoch).ok() ? 0 : 1;
      ASSERT_OK(SetFailpoints(""));
      ASSERT_OK_AND_ASSIGN(const auto scores, To(epoch));
      EXPECT_EQ(scores.value().mrr, static_cast<double>(epoch) / 10) << failure;
      EXPECT_EQ(EpochsDone(), epoch) << failure;
    }
    EXPECT_GT(failures, 0) << failure;
    EXPECT_TRUE(ReadRunBytes(run().folder()) == unbroken) << failure;
    EXPECT_FALSE(std::filesystem::exists(run().Table(TableName::kEmbeddings, 1))) << failure;
    std::filesystem::remove_all(run().folder());
  }
}

// Even if only the end of the validation shows it.
TEST_F(TrialRun, StoppedDuringAValidationItStopsAfterIt) {
  bool stop = false;
  const TrainSettings settings = {.memory = kPlenty, .validate = [&](const auto& folder, const auto&... rest) {
                                    stop = true;
                                    return Rising(folder, rest...);
                                  }};
  ASSERT_OK_AND_ASSIGN(const auto scores,
                       TrainToEpoch(training_.graph_folder(), run(), options_, 6, settings, {}, [&] { return stop; }));
  EXPECT_EQ(scores, std::nullopt);
  EXPECT_EQ(EpochsDone(), 2U);
  ASSERT_OK_AND_ASSIGN(const auto last, To(6));
  EXPECT_EQ(last.value().mrr, 0.6);
}

TEST_F(TrialRun, NoRunHasNoScores) {
  ASSERT_OK_AND_ASSIGN(const auto scores, CommittedScores(run(), 2));
  EXPECT_EQ(scores, std::nullopt);
}

TEST_F(TrialRun, EventsAfterTheLastCommitDoNotCount) {
  ASSERT_OK(To(2));
  const std::string events = FileBytes(run().Metrics());
  WriteFileBytes(run().Metrics(), events + "{\"event\":\"validation\",\"epoch\":2,\"mrr\":0.9}\n");
  ASSERT_OK_AND_ASSIGN(const auto scores, CommittedScores(run(), 2));
  EXPECT_EQ(scores.value().mrr, 0.2);
}

TEST_F(TrialRun, ALostEventIsDamage) {
  ASSERT_OK(To(2));
  std::filesystem::resize_file(run().Metrics(), 0);
  EXPECT_ERROR(CommittedScores(run(), 2), kCorrupt, "metrics.jsonl: no validation of epoch 2");
}

// The search distinguishes such errors from those of the machine.
TEST_F(TrialRun, DivergenceIsSaid) {
  options_.optimizer = OptimizerKind::kSgd;
  options_.learning_rate = 1000;
  options_.learning_rate_schedule = LearningRateSchedule::kConstant;
  options_.epochs = 100;
  options_.initial_scale = 10;
  for (const Schedule schedule : {Schedule::kSync, Schedule::kPipelined, Schedule::kAsync}) {
    options_.schedule = schedule;
    const auto scores = To(100);
    EXPECT_TRUE(IsDiverged(scores.status())) << ScheduleName(schedule) << ": " << scores.status().ToString();
    EXPECT_ERROR(scores, kRuntime, "is not finite");
    std::filesystem::remove_all(run().folder());
  }
  options_ = TinyOptions();
  options_.validate_every = 1;
  ASSERT_OK(SetFailpoints("train.batch=eio"));
  const auto scores = To(2);
  ASSERT_OK(SetFailpoints(""));
  EXPECT_FALSE(scores.ok() || IsDiverged(scores.status()));
}

}  // namespace
}  // namespace octavo
