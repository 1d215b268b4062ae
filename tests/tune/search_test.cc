#include "tune/search.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "nlohmann/json.hpp"
#include "run/run_configuration.h"
#include "run/trained_run.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

// Best at a rate of 0.1, and better with each epoch; depends only on these two.
absl::StatusOr<ValidationScores> NearATenth(const std::filesystem::path& run, const TrainOptions& options,
                                            std::uint64_t) {
  ASSIGN_OR_RETURN(const TrainedRun opened, OpenTrainedRun(run));
  const double mrr =
      0.5 - std::abs(std::log10(options.learning_rate) + 1) / 10 + static_cast<double>(opened.epochs_done) / 100;
  return ValidationScores{.mrr = mrr, .hits_at_10 = mrr + 0.1, .triples = 10};
}

// The result of a search, without times.
std::string Table(const SearchOutcome& outcome) {
  std::string text;
  for (const Halving::Place& place : outcome.halving.Ranking()) {
    const Trial& trial = outcome.trials[place.trial];
    text += fmt::format("{} {} {} {} {} {} {}\n", place.trial, place.rung ? *place.rung : 99, trial.scores.mrr,
                        trial.scores.hits_at_10, trial.epochs_done, trial.failure, fmt::join(trial.values, " "));
  }
  return text;
}

class SearchTest : public ::testing::Test {
 protected:
  SearchTest() {
    options_.graph = training_.graph_folder();
    options_.folder = fast_ / "search";
    options_.trials = 7;
    options_.epochs_least = 1;
    options_.epochs = 4;
    options_.reduction_factor = 2;
    SetSpace("learning-rate = { min = 0.0001, max = 1, log = true }\nlearning-rate-schedule = \"linear\"\n");
    callbacks_.settings = [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
      return TrainSettings{.memory = kPlenty, .validate = NearATenth};
    };
  }
  // The options of all the tests' trials, before those of the space.
  void SetSpace(const std::string& varying) {
    const std::string common =
        "dim = 4\nnegatives = 8\nbatch = 28\nchunk = 6\ninitial-scale = 0.3\ndurability = \"process\"\n";
    WriteFileBytes(training_.folder() / "space.toml", common + varying);
    auto space = LoadSearchSpace(training_.folder() / "space.toml");
    EXPECT_OK(space);
    if (space.ok()) options_.space = *std::move(space);
  }
  absl::StatusOr<SearchOutcome> Search(const std::atomic<int>* stop = nullptr) const {
    return RunSearch(options_, callbacks_, stop);
  }
  // The table of an uninterrupted search in its own folder.
  std::string UnbrokenTable() {
    TuneOptions options = options_;
    options.folder = fast_ / "unbroken";
    const auto outcome = RunSearch(options, callbacks_, nullptr);
    EXPECT_OK(outcome);
    return outcome.ok() ? Table(*outcome) : std::string();
  }
  std::set<std::string> Files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  std::string TrialName(std::uint64_t trial) const {
    return SearchPaths(options_.folder).Trial(trial).folder().filename().string();
  }

  const TinyTraining training_{{.valid_share = 0.1}};
  const TemporaryFolder fast_{FastPlace()};
  TuneOptions options_;
  SearchCallbacks callbacks_;
};

TEST_F(SearchTest, FindsTheBestAndLeavesItsRunAndPreset) {
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  ASSERT_EQ(outcome.trials.size(), 7U);
  std::uint64_t nearest = 0;
  const auto distance = [&](std::uint64_t t) {
    return std::abs(std::log10(outcome.trials[t].options.learning_rate) + 1);
  };
  for (std::uint64_t t = 0; t < 7; ++t) nearest = distance(t) < distance(nearest) ? t : nearest;
  EXPECT_EQ(outcome.best, nearest);
  EXPECT_EQ(outcome.trials[nearest].epochs_done, 4U);
  std::vector<std::uint64_t> epochs;
  for (const auto& place : outcome.halving.Ranking()) epochs.push_back(outcome.trials[place.trial].epochs_done);
  EXPECT_EQ(epochs, (std::vector<std::uint64_t>{4, 2, 2, 1, 1, 1, 1}));
  EXPECT_EQ(Files(), (std::set<std::string>{"LOCK", "tune.jsonl", "best.toml", TrialName(nearest)}));
  // The preset gives the bits of the trial, without a stop.
  TrainOptions preset;
  ASSERT_OK(LoadTomlConfiguration(SearchPaths(options_.folder).Preset(), preset));
  EXPECT_EQ(preset.epochs, 4U);
  EXPECT_EQ(preset.validate_every, 0U);
  EXPECT_TRUE(training_.Train(preset) == ReadRunBytes(SearchPaths(options_.folder).Trial(nearest).folder()));
}

TEST_F(SearchTest, EveryTrialStretchesItsLearningRateOverTheLastRung) {
  callbacks_.settings = [](const TrainOptions& options, const Graph&) -> absl::StatusOr<TrainSettings> {
    EXPECT_EQ(options.epochs, 4U);
    EXPECT_EQ(options.validate_every, 1U);
    EXPECT_EQ(options.seed, 1U);
    return TrainSettings{.memory = kPlenty, .validate = NearATenth};
  };
  ASSERT_OK(Search());
}

TEST_F(SearchTest, RunsThatAreOutAreRemovedOnTheWay) {
  callbacks_.on_end = [&](const Halving& halving, Halving::Task task, const Trial& trial) {
    EXPECT_EQ(task.trial, trial.number);
    std::size_t runs = 0;
    for (const std::string& name : Files()) runs += name.starts_with("trial-") ? 1 : 0;
    EXPECT_LE(runs, 3U) << "the half of seven";
    for (std::uint64_t t = 0; t < 7; ++t) {
      EXPECT_FALSE(halving.IsOut(t) && Files().contains(TrialName(t))) << t;
    }
  };
  ASSERT_OK(Search());
}

TEST_F(SearchTest, SaidAgainItTrainsNothing) {
  ASSERT_OK_AND_ASSIGN(const SearchOutcome first, Search());
  const std::string preset = FileBytes(SearchPaths(options_.folder).Preset());
  std::filesystem::remove(SearchPaths(options_.folder).Preset());
  callbacks_.on_begin = [](const Halving&, Halving::Task task, const Trial&) { ADD_FAILURE() << task.trial; };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome again, Search());
  EXPECT_EQ(Table(again), Table(first));
  EXPECT_EQ(again.seconds, first.seconds);
  EXPECT_EQ(FileBytes(SearchPaths(options_.folder).Preset()), preset);
}

TEST_F(SearchTest, StoppedAnywhereItComesToTheSame) {
  const std::string unbroken = UnbrokenTable();
  std::atomic<int> stop = 0;
  int batches = 0;
  callbacks_.train.on_batch = [&](const TrainProgress&) { stop = ++batches % 7 == 0 ? 15 : 0; };
  int stops = 0;
  while (true) {
    stop = 0;
    ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search(&stop));
    if (outcome.end == SearchEnd::kDone) {
      EXPECT_EQ(Table(outcome), unbroken);
      break;
    }
    EXPECT_EQ(outcome.end, SearchEnd::kStopped);
    ASSERT_LT(++stops, 50);
  }
  EXPECT_GT(stops, 5);
}

// For the files, each of these is a kill.
TEST_F(SearchTest, FailedAnywhereItComesToTheSame) {
  const std::string unbroken = UnbrokenTable();
  for (const std::string step : {"tune.append", "tune.sync", "tune.trained", "tune.remove", "train.validate",
                                 "train.batch", "commit.C2", "commit.C5", "commit.C6"}) {
    for (const std::string count : {"1", "2", "6", "8", "10"}) {
      ASSERT_OK(SetFailpoints(step + ":" + count + "=eio"));
      const auto failed = Search();
      ASSERT_OK(SetFailpoints(""));
      EXPECT_FALSE(failed.ok()) << step << ":" << count;
      ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
      EXPECT_EQ(Table(outcome), unbroken) << step << ":" << count;
      EXPECT_EQ(Files(), (std::set<std::string>{"LOCK", "tune.jsonl", "best.toml", TrialName(*outcome.best)}));
      std::filesystem::remove_all(options_.folder);
    }
  }
}

TEST_F(SearchTest, AGraphThatHasMovedIsTheSame) {
  const std::string unbroken = UnbrokenTable();
  std::atomic<int> stop = 0;
  int batches = 0;
  callbacks_.train.on_batch = [&](const TrainProgress&) { stop = ++batches >= 3 ? 1 : 0; };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome stopped, Search(&stop));
  EXPECT_EQ(stopped.end, SearchEnd::kStopped);
  callbacks_.train.on_batch = {};
  const std::filesystem::path moved = options_.graph.parent_path() / "moved";
  std::filesystem::rename(options_.graph, moved);
  options_.graph = moved;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(Table(outcome), unbroken);
}

// A trial that has begun and needs more memory than is available now has not failed.
TEST_F(SearchTest, ATrialThatWasBegunWaitsForItsMemory) {
  const std::string unbroken = UnbrokenTable();
  std::atomic<int> stop = 0;
  callbacks_.train.on_batch = [&](const TrainProgress&) { stop = 1; };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome stopped, Search(&stop));
  EXPECT_EQ(stopped.end, SearchEnd::kStopped);
  callbacks_.train.on_batch = {};
  const auto settings = std::exchange(
      callbacks_.settings,
      [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> { return TrainSettings{.memory = 1}; });
  EXPECT_ERROR(Search(), kUsage, "training needs ");
  callbacks_.settings = settings;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(Table(outcome), unbroken);
}

TEST_F(SearchTest, TheBudgetEndsItAndMoreOfItGoesOn) {
  const std::string unbroken = UnbrokenTable();
  options_.budget_seconds = 1e-9;
  ASSERT_OK_AND_ASSIGN(SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kBudget);
  EXPECT_EQ(outcome.best, std::nullopt);
  EXPECT_EQ(outcome.halving.Done(0), 0U);
  // Used up in the middle of a trial, and then completely.
  options_.budget_seconds = 0.001;
  ASSERT_OK(Search());
  ASSERT_OK_AND_ASSIGN(outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kBudget);
  options_.budget_seconds = 1e6;
  ASSERT_OK_AND_ASSIGN(outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  EXPECT_EQ(Table(outcome), unbroken);
}

TEST_F(SearchTest, WhatAKillCutsOffSpendsNothing) {
  callbacks_.train.on_batch = [](const TrainProgress& progress) {
    if (progress.epoch == 1 && progress.batch == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  ASSERT_OK(SetFailpoints("tune.append:2=eio"));
  EXPECT_FALSE(Search().ok());
  ASSERT_OK(SetFailpoints(""));
  const std::atomic<int> stop = 15;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search(&stop));
  EXPECT_GE(outcome.trials[0].seconds, 0.02);
  EXPECT_EQ(outcome.trials[1].seconds, 0);
  EXPECT_EQ(outcome.seconds, outcome.trials[0].seconds);
}

TEST_F(SearchTest, NotesSayWhatDoesNotDivide) {
  const auto notes = [&] {
    return fmt::format("{}", fmt::join(SearchNotes(options_, CheckSearch(options_)->rungs), "\n"));
  };
  EXPECT_EQ(notes(),
            "1 in 2 of 7 trials is not a whole number: 3 continue from epoch 1 to 2\n"
            "1 in 2 of 3 trials is not a whole number: 1 continue from epoch 2 to 4");
  options_.trials = 8;
  EXPECT_EQ(notes(), "");
  options_.epochs_least = 4;
  options_.epochs = 6;
  EXPECT_EQ(notes(),
            "--epochs 6 is less than 2 times --epochs-least 4: there is one rung, of all trials\n"
            "validations run after every 2 epochs, the greatest common divisor of --epochs-least and --epochs; only "
            "those at the ends of rungs count");
  options_.epochs_least = 2;
  EXPECT_EQ(notes(), "--epochs 6 is not --epochs-least 2 times a power of 2: the last rung is longer");
  options_.epochs = 8;
  SetSpace("learning-rate = [0.1, 0.2]\nplateau-patience = { min = 1, max = 6, step = 2 }\n");
  EXPECT_EQ(notes(), (training_.folder() / "space.toml").string() +
                         ":8: plateau-patience: max 6 is not reached in steps of 2 from 1: the largest value is 5\n"
                         "1 in 2 of 3 trials is not a whole number: 1 continue from epoch 4 to 8");
}

TEST_F(SearchTest, ATrialThatDivergesIsTheLast) {
  SetSpace("learning-rate = [0.1, 0.05, 1000]\noptimizer = \"sgd\"\nloss = \"logistic\"\n");
  options_.epochs_least = 8;
  options_.epochs = 16;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  ASSERT_EQ(outcome.trials.size(), 3U);
  EXPECT_EQ(outcome.trials[*outcome.best].options.learning_rate, 0.1);
  const Halving::Place last = outcome.halving.Ranking().back();
  EXPECT_TRUE(last.failed);
  const Trial& diverged = outcome.trials[last.trial];
  EXPECT_EQ(diverged.options.learning_rate, 1000);
  EXPECT_NE(diverged.failure.find("is not finite"), std::string::npos) << diverged.failure;
  EXPECT_FALSE(Files().contains(TrialName(last.trial)));
  ASSERT_OK_AND_ASSIGN(const SearchOutcome again, Search());
  EXPECT_EQ(Table(again), Table(outcome));
}

TEST_F(SearchTest, ATrialThatDoesNotFitIsTheLast) {
  callbacks_.settings = [](const TrainOptions& options, const Graph&) -> absl::StatusOr<TrainSettings> {
    // Below a rate of 0.01 the training does not fit the memory, above a rate of 0.1 the validation does not.
    if (options.learning_rate > 0.1) return UsageError("validations need more");
    return TrainSettings{.memory = options.learning_rate < 0.01 ? 1 : kPlenty, .validate = NearATenth};
  };
  options_.trials = 12;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  int too_high = 0;
  int too_low = 0;
  for (const Trial& trial : outcome.trials) {
    const double rate = trial.options.learning_rate;
    EXPECT_EQ(trial.failure.empty(), 0.01 <= rate && rate <= 0.1) << rate;
    if (rate > 0.1) {
      ++too_high;
      EXPECT_EQ(trial.failure, "validations need more");
    }
    if (rate < 0.01) {
      ++too_low;
      EXPECT_NE(trial.failure.find("training needs "), std::string::npos) << trial.failure;
    }
  }
  EXPECT_TRUE(too_high > 0 && too_low > 0 && too_high + too_low < 12);
  EXPECT_TRUE(outcome.halving.Ranking().back().failed);
  ASSERT_OK_AND_ASSIGN(const SearchOutcome again, Search());
  EXPECT_EQ(Table(again), Table(outcome));
}

// Less memory than before is not the trial's fault: one that completed a rung has not failed.
TEST_F(SearchTest, ARunThatFitsNoLongerEndsTheSearch) {
  const std::string unbroken = UnbrokenTable();
  const auto with = [](std::uint64_t memory) {
    return [memory](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
      return TrainSettings{.memory = memory, .validate = NearATenth};
    };
  };
  callbacks_.on_begin = [&](const Halving&, Halving::Task task, const Trial&) {
    if (task.rung == 1) callbacks_.settings = with(1);
  };
  EXPECT_ERROR(Search(), kUsage, "training needs ");
  callbacks_.on_begin = {};
  callbacks_.settings = with(kPlenty);
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(Table(outcome), unbroken);
}

TEST_F(SearchTest, WhereAllFailThereIsNoBest) {
  callbacks_.settings = [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
    return UsageError("no room");
  };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  EXPECT_EQ(outcome.best, std::nullopt);
  EXPECT_EQ(Files(), (std::set<std::string>{"LOCK", "tune.jsonl"}));
}

// An error that is not the trial's ends the search, which can be continued later.
TEST_F(SearchTest, AFailureOfTheMachineIsNoTrials) {
  callbacks_.settings = [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
    return TrainSettings{.memory = kPlenty,
                         .validate = [](const auto&, const auto&, std::uint64_t) -> absl::StatusOr<ValidationScores> {
                           return RuntimeError("the disk is gone");
                         }};
  };
  EXPECT_ERROR(Search(), kRuntime, "the disk is gone");
  callbacks_.settings = [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
    return TrainSettings{.memory = kPlenty, .validate = NearATenth};
  };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(Table(outcome), UnbrokenTable());
}

TEST_F(SearchTest, OtherArgumentsAreRefused) {
  options_.trials = 2;
  ASSERT_OK(Search());
  const auto before = FileBytes(SearchPaths(options_.folder).Log());
  const TuneOptions same = options_;
  options_.trials = 3;
  EXPECT_ERROR(Search(), kUsage, "another --trials: found 3, expected 2");
  options_ = same;
  options_.seed = 2;
  EXPECT_ERROR(Search(), kUsage, "another --seed: found 2, expected 1");
  options_ = same;
  options_.validation_sample = 2;
  EXPECT_ERROR(Search(), kUsage, "another --validation-sample: found 2, expected 0");
  options_ = same;
  options_.epochs = 5;
  EXPECT_ERROR(Search(), kUsage, "another --epochs: found 5, expected 4");
  options_ = same;
  options_.reduction_factor = 3;
  EXPECT_ERROR(Search(), kUsage, "another --reduction-factor: found 3, expected 2");
  options_ = same;
  SetSpace("learning-rate = { min = 0.0002, max = 1, log = true }\nlearning-rate-schedule = \"linear\"\n");
  EXPECT_ERROR(Search(), kUsage, "another learning-rate in --space: found 0.0002 to 1, log, expected 0.0001 to 1, log");
  options_ = same;
  options_.budget_seconds = 9;
  EXPECT_OK(Search());
  EXPECT_EQ(FileBytes(SearchPaths(options_.folder).Log()), before);
}

TEST_F(SearchTest, AFolderOfSomebodyElseIsRefused) {
  std::filesystem::create_directories(options_.folder);
  WriteFileBytes(options_.folder / "mine.txt", "mine");
  EXPECT_ERROR(Search(), kUsage, "mine.txt: exists and does not belong to a search");
  EXPECT_EQ(Files(), (std::set<std::string>{"mine.txt"}));
  options_.folder = options_.folder / "mine.txt";
  EXPECT_ERROR(Search(), kUsage, "mine.txt: exists and is not a folder");
}

TEST_F(SearchTest, WhatCannotBeSearchedIsRefusedBeforeTheFolderIsMade) {
  options_.epochs_least = 5;
  EXPECT_ERROR(Search(), kUsage, "--epochs is 4 and --epochs-least 5");
  options_.epochs_least = 2;
  SetSpace("learning-rate = [0.1, 0.2]\nvalidate-every = 4\n");
  EXPECT_ERROR(Search(), kUsage, "space.toml: validate-every: found 4, and a rung ends at epoch 2; expected a divisor");
  SetSpace("learning-rate = [0.1, 0.2]\nvalidate-every = 0\n");
  EXPECT_ERROR(Search(), kUsage, "space.toml: validate-every: found 0");
  options_.validation_sample = 5;
  SetSpace("seed = [1, 2]\n");
  EXPECT_ERROR(Search(), kUsage, "space.toml: seed: found several, but the seed determines the edges");
  SetSpace("dropout = [0.1, 0.2]\n");
  const TinyTraining without;
  options_.graph = without.graph_folder();
  EXPECT_ERROR(Search(), kUsage, "no edges to validate with");
  EXPECT_FALSE(std::filesystem::exists(options_.folder));
}

TEST_F(SearchTest, ALogOfAnotherOrderIsDamage) {
  options_.trials = 2;
  ASSERT_OK(Search());
  const SearchPaths paths(options_.folder);
  // Without the checksums, which tell sooner.
  const std::string log = std::regex_replace(FileBytes(paths.Log()), std::regex(",\"checksum\":\"[0-9a-f]*\""), "");
  const std::size_t first = log.find('\n') + 1;
  const std::size_t second = log.find('\n', first) + 1;
  WriteFileBytes(paths.Log(), log.substr(0, first) + log.substr(second));
  EXPECT_ERROR(Search(), kCorrupt, "tune.jsonl:2: found trial 1 in rung 0; expected trial 0 in rung 0");
  WriteFileBytes(paths.Log(), log + log.substr(first, second - first));
  EXPECT_ERROR(Search(), kCorrupt, "expected nothing, since all is done");
}

TEST_F(SearchTest, ASmallSpaceHasFewerTrials) {
  SetSpace("learning-rate = [0.1, 0.2, 0.3]\n");
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.trials.size(), 3U);
  EXPECT_EQ(outcome.trials[*outcome.best].options.learning_rate, 0.1);
}

TEST_F(SearchTest, OneProcessAtATime) {
  callbacks_.on_end = [&](const Halving&, Halving::Task, const Trial&) {
    EXPECT_ERROR(RunSearch(options_, callbacks_, nullptr), kBusy, "in use by pid");
  };
  ASSERT_OK(Search());
}

}  // namespace
}  // namespace octavo
