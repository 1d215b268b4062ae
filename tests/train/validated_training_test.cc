// Trainings that validate: their decisions, and that no kill or resume changes a bit of them.
#include <atomic>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "nlohmann/json.hpp"
#include "run/trained_run.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

// Rises to its best at epoch 3 and falls after it, whatever the rows are.
absl::StatusOr<ValidationScores> PeakAtThree(const std::filesystem::path& run, const TrainOptions&,
                                             std::uint64_t memory) {
  EXPECT_GE(memory, std::uint64_t{24} << 20);
  ASSIGN_OR_RETURN(const TrainedRun opened, OpenTrainedRun(run));
  const double epoch = static_cast<double>(opened.epochs_done);
  return ValidationScores{.mrr = 0.5 - 0.1 * std::abs(epoch - 3), .triples = 7};
}

TrainSettings Validating() { return {.memory = kPlenty, .validate = PeakAtThree}; }

class ValidatedTraining : public ::testing::Test {
 protected:
  ValidatedTraining() {
    options_ = TinyOptions();
    options_.epochs = 8;
    options_.optimizer = OptimizerKind::kAdam;
    options_.validate_every = 1;
    options_.learning_rate_schedule = LearningRateSchedule::kPlateau;
    options_.plateau_patience = 2;
    options_.keep = Keep::kBest;
  }
  std::vector<nlohmann::json> Events(const std::string& run) const {
    std::vector<nlohmann::json> events;
    std::istringstream lines(FileBytes(RunPaths(training_.run_folder(run)).Metrics()));
    for (std::string line; std::getline(lines, line);) events.push_back(nlohmann::json::parse(line));
    return events;
  }
  std::vector<double> LearningRates(const std::string& run) const {
    std::vector<double> rates;
    for (const auto& event : Events(run)) {
      if (event["event"] == "epoch") rates.push_back(event["learning_rate"]);
    }
    return rates;
  }

  const TinyTraining training_{{.valid_share = 0.1}};
  TrainOptions options_;
};

TEST_F(ValidatedTraining, LogsKeepsTheBestAndLowersTheRate) {
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome, training_.Start(options_, "run", Validating()));
  EXPECT_TRUE(outcome.finished);
  EXPECT_FALSE(outcome.stopped_early);
  EXPECT_EQ(outcome.validation.best_epoch, 3U);
  EXPECT_EQ(outcome.validation.best_mrr, 0.5);
  const auto events = Events("run");
  ASSERT_EQ(events.size(), 16U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["event"], i % 2 == 0 ? "epoch" : "validation");
    EXPECT_EQ(events[i]["epoch"], i / 2 + 1);
  }
  EXPECT_EQ(events[1]["mrr"], 0.3);
  EXPECT_EQ(events[15]["best_epoch"], 3);
  const auto rates = LearningRates("run");
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(rates[i]), i < 5 ? 0.1F : i < 7 ? 0.05F : 0.025F) << i;
  }
  // The best is the run as it was after epoch 3.
  options_.epochs = 3;
  options_.keep = Keep::kLast;
  ASSERT_OK(training_.Start(options_, "three", Validating()));
  EXPECT_TRUE(ReadRunBytes(training_.run_folder("run") / "best") == ReadRunBytes(training_.run_folder("three")));
  ASSERT_OK_AND_ASSIGN(const TrainedRun best, OpenTrainedRun(training_.run_folder("run") / "best"));
  EXPECT_EQ(best.epochs_done, 3U);
  EXPECT_FALSE(std::filesystem::exists(training_.run_folder("three") / "best"));
}

TEST_F(ValidatedTraining, PatienceStopsAndMoreEpochsGoOn) {
  options_.patience = 3;
  ASSERT_OK_AND_ASSIGN(TrainOutcome outcome, training_.Start(options_, "run", Validating()));
  EXPECT_TRUE(outcome.finished);
  EXPECT_TRUE(outcome.stopped_early);
  EXPECT_EQ(outcome.epochs_done, 6U);
  EXPECT_FALSE(std::filesystem::exists(RunPaths(training_.run_folder()).Table(TableName::kEmbeddings, 1)));
  const RunBytes stopped = ReadRunBytes(training_.run_folder());
  ASSERT_OK_AND_ASSIGN(outcome, training_.Resume(0, "run", Validating()));
  EXPECT_TRUE(outcome.stopped_early);
  EXPECT_TRUE(ReadRunBytes(training_.run_folder()) == stopped);
  ASSERT_OK_AND_ASSIGN(outcome, training_.Resume(20, "run", Validating()));
  EXPECT_EQ(outcome.epochs_done, 9U) << "patience starts again, and no better one comes";
}

// A run that is to continue after a stop by patience, and is killed: a plain resume continues it, too.
TEST_F(ValidatedTraining, GoingOnPastPatienceSurvivesAKill) {
  options_.patience = 3;
  ASSERT_OK(training_.Start(options_, "unbroken", Validating()));
  ASSERT_OK(training_.Resume(20, "unbroken", Validating()));
  const RunBytes unbroken = ReadRunBytes(training_.run_folder("unbroken"));
  for (const std::string step : {"commit.C1", "commit.C6", "train.batch", "train.validate"}) {
    for (const std::string count : {"1", "2", "5"}) {
      ASSERT_OK(training_.Start(options_, "run", Validating()));
      ASSERT_OK(SetFailpoints(step + ":" + count + "=eio"));
      EXPECT_FALSE(training_.Resume(20, "run", Validating()).ok() && count == "1") << step << ":" << count;
      ASSERT_OK(SetFailpoints(""));
      // Before the first commit the request to continue is not recorded.
      const bool recorded = !step.starts_with("commit") || count != "1";
      ASSERT_OK(training_.Resume(recorded ? 0 : 20, "run", Validating()));
      EXPECT_TRUE(ReadRunBytes(training_.run_folder()) == unbroken) << step << ":" << count;
      std::filesystem::remove_all(training_.run_folder());
    }
  }
}

TEST_F(ValidatedTraining, StoppedWithinAValidationItIsDoneByTheResume) {
  std::atomic<int> stop = 0;
  TrainSettings settings = Validating();
  settings.stop = &stop;
  settings.validate = [&](const std::filesystem::path&, const TrainOptions&,
                          std::uint64_t) -> absl::StatusOr<ValidationScores> {
    stop = 2;
    return absl::CancelledError("stopped");
  };
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome, training_.Start(options_, "run", settings));
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.epochs_done, 1U);
  ASSERT_OK(training_.Resume(0, "run", Validating()));
  ASSERT_OK(training_.Start(options_, "unbroken", Validating()));
  EXPECT_TRUE(ReadRunBytes(training_.run_folder()) == ReadRunBytes(training_.run_folder("unbroken")));
}

TEST_F(ValidatedTraining, AnotherRunInThePlaceOfTheBestIsRefused) {
  const std::filesystem::path folder = training_.run_folder();
  ASSERT_OK(StartRun(training_.graph_folder(), folder / "best", TinyOptions(), false, {.memory = kPlenty}, {}));
  const RunBytes other = ReadRunBytes(folder / "best");
  EXPECT_ERROR(training_.Start(options_, "run", Validating()), kUsage, "move it");
  EXPECT_TRUE(ReadRunBytes(folder / "best") == other);
}

// An error at each step of a validation, and of the copy that it makes.
TEST_F(ValidatedTraining, FailedAnywhereAndResumedIsUnbroken) {
  ASSERT_OK(training_.Start(options_, "unbroken", Validating()));
  const RunBytes unbroken = ReadRunBytes(training_.run_folder("unbroken"));
  const RunBytes best = ReadRunBytes(training_.run_folder("unbroken") / "best");
  const auto rates = LearningRates("unbroken");
  for (const std::string step : {"train.validate", "copy.rows", "copy.state", "copy.rename", "copy.remove", "commit.C1",
                                 "commit.C5", "commit.C6", "commit.C7"}) {
    for (const std::string count : {"1", "2", "3", "6"}) {
      ASSERT_OK(SetFailpoints(step + ":" + count + "=eio"));
      const auto outcome = training_.Start(options_, "run", Validating());
      ASSERT_OK(SetFailpoints(""));
      EXPECT_EQ(outcome.ok(), step.starts_with("copy") && count == "6") << step << ":" << count;
      EXPECT_OK(training_.Resume(0, "run", Validating())) << step << ":" << count;
      EXPECT_TRUE(ReadRunBytes(training_.run_folder()) == unbroken) << step << ":" << count;
      EXPECT_TRUE(ReadRunBytes(training_.run_folder() / "best") == best) << step << ":" << count;
      EXPECT_EQ(Events("run").size(), 16U) << step << ":" << count;
      EXPECT_EQ(LearningRates("run"), rates) << step << ":" << count;
      std::filesystem::remove_all(training_.run_folder());
    }
  }
}

TEST_F(ValidatedTraining, AFailedValidationIsAnErrorAndNothingIsLost) {
  TrainSettings failing = Validating();
  failing.validate = [](const std::filesystem::path&, const TrainOptions&,
                        std::uint64_t) -> absl::StatusOr<ValidationScores> {
    return RuntimeError("the ranking failed");
  };
  EXPECT_ERROR(training_.Start(options_, "run", failing), kRuntime, "the ranking failed");
  ASSERT_OK_AND_ASSIGN(const TrainedRun run, OpenTrainedRun(training_.run_folder()));
  EXPECT_EQ(run.epochs_done, 1U);
}

TEST_F(ValidatedTraining, StoppedBeforeAValidationItIsDoneByTheResume) {
  std::atomic<int> stop = 0;
  TrainSettings settings = Validating();
  settings.stop = &stop;
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome,
                       training_.Start(options_, "run", settings, {.on_epoch = [&](const EpochEvent& event) {
                                         stop = event.epoch == 8 ? 2 : 0;
                                       }}));
  EXPECT_FALSE(outcome.finished) << "the last validation is still to come";
  EXPECT_EQ(outcome.epochs_done, 8U);
  ASSERT_OK_AND_ASSIGN(const TrainOutcome resumed, training_.Resume(0, "run", Validating()));
  EXPECT_TRUE(resumed.finished);
  EXPECT_EQ(Events("run").size(), 16U);
}

TEST_F(ValidatedTraining, OverwritingReplacesADamagedRun) {
  ASSERT_OK(training_.Start(options_, "run", Validating()));
  const RunBytes unbroken = ReadRunBytes(training_.run_folder());
  std::filesystem::remove_all(training_.run_folder() / "best");
  std::string state = FileBytes(RunPaths(training_.run_folder()).State());
  for (char& byte : state) byte = 'x';
  WriteFileBytes(RunPaths(training_.run_folder()).State(), state);
  ASSERT_OK(StartRun(training_.graph_folder(), training_.run_folder(), options_, /*overwrite=*/true, Validating(), {}));
  EXPECT_TRUE(ReadRunBytes(training_.run_folder()) == unbroken);
}

TEST_F(ValidatedTraining, OverwritingRefusesAnotherRunInThePlaceOfTheBestAtOnce) {
  const std::filesystem::path folder = training_.run_folder();
  ASSERT_OK(StartRun(training_.graph_folder(), folder / "best", TinyOptions(), false, {.memory = kPlenty}, {}));
  EXPECT_ERROR(StartRun(training_.graph_folder(), folder, options_, /*overwrite=*/true, Validating(), {}), kUsage,
               "holds another run");
  EXPECT_FALSE(std::filesystem::exists(RunPaths(folder).State()));
}

TEST_F(ValidatedTraining, OverwritingRemovesTheBest) {
  ASSERT_OK(training_.Start(options_, "run", Validating()));
  options_.keep = Keep::kLast;
  ASSERT_OK(StartRun(training_.graph_folder(), training_.run_folder(), options_, /*overwrite=*/true, Validating(), {}));
  EXPECT_FALSE(std::filesystem::exists(training_.run_folder() / "best"));
}

TEST_F(ValidatedTraining, NeedsEdgesToValidateWith) {
  const TinyTraining without;
  EXPECT_ERROR(without.Start(options_, "run", Validating()), kUsage, "no edges to validate with");
}

}  // namespace
}  // namespace octavo
