#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "choose/choice.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "run/run_configuration.h"
#include "run/trained_run.h"
#include "tests/train/tiny_training.h"
#include "tune/search.h"
#include "tune/search_log.h"

namespace octavo {
namespace {

// Higher for higher learning rates, and with each epoch.
absl::StatusOr<ValidationScores> ByRate(const std::filesystem::path& run, const TrainOptions& options, std::uint64_t) {
  ASSIGN_OR_RETURN(const TrainedRun opened, OpenTrainedRun(run));
  const double mrr = 0.3 + std::log10(options.learning_rate) / 20 + static_cast<double>(opened.epochs_done) / 10000;
  return ValidationScores{.mrr = mrr, .hits_at_10 = mrr + 0.1, .triples = 10};
}

std::string RankingText(const SearchOutcome& outcome) {
  std::string text;
  for (const Halving::Place& place : outcome.halving.Ranking()) {
    const Trial& trial = outcome.trials[place.trial];
    text += fmt::format("{} {} {} {} {} {}\n", place.trial, place.rung ? *place.rung : 99, trial.scores.mrr,
                        trial.epochs_done, trial.failure, trial.summary);
  }
  return text;
}

class SearchWithoutSpaceTest : public ::testing::Test {
 protected:
  SearchWithoutSpaceTest() {
    options_.graph = training_.graph_folder();
    options_.folder = fast_ / "search";
    options_.trials = 6;
    options_.memory = std::uint64_t{1} << 30;
    callbacks_.settings = [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
      return TrainSettings{.memory = kPlenty, .validate = ByRate};
    };
  }
  absl::StatusOr<SearchOutcome> Search(const std::atomic<int>* stop = nullptr) const {
    return RunSearch(options_, callbacks_, stop);
  }
  // A search within `seconds` of a clock that only epochs move: each takes `epoch` seconds.
  absl::StatusOr<SearchOutcome> TimedSearch(double seconds, double epoch, const std::atomic<int>* stop = nullptr) {
    options_.seconds = seconds;
    callbacks_.clock = [this] { return now_; };
    callbacks_.train.on_epoch = [this, epoch](const EpochEvent&) { now_ += epoch; };
    return Search(stop);
  }
  std::uint64_t LinesWith(const std::string& text) const {
    const std::string log = FileBytes(SearchPaths(options_.folder).Log());
    std::uint64_t lines = 0;
    for (std::size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++lines;
    return lines;
  }

  const TinyTraining training_{{.nodes = 30, .relations = 3, .edges = 200, .valid_share = 0.1}};
  const TemporaryFolder fast_{FastPlace()};
  TuneOptions options_;
  SearchCallbacks callbacks_;
  double now_ = 0;
};

TEST_F(SearchWithoutSpaceTest, TheFirstTrialHasTheBitsOfTheChoiceAndTheBestIsNotWorse) {
  // The first is the best.
  callbacks_.settings = [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
    return TrainSettings{.memory = kPlenty, .validate = [](const auto&...) -> absl::StatusOr<ValidationScores> {
                           return ValidationScores{.mrr = 0.5};
                         }};
  };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  EXPECT_EQ(outcome.best, 0U);
  EXPECT_EQ(outcome.trials[0].summary, "auto");
  EXPECT_EQ(outcome.run, SearchPaths(options_.folder).Trial(0).folder());
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(options_.graph));
  ASSERT_OK_AND_ASSIGN(const GraphFacts facts, MeasureFacts(*graph, options_.memory));
  const Choice choice = ChooseOptions(facts, graph->description(), options_.memory, {}, {});
  EXPECT_EQ(outcome.trials[0].epochs_done, choice.options.epochs);
  const RunBytes trained = training_.Train(choice.options);
  EXPECT_TRUE(ReadRunBytes(outcome.run) == trained);
  // So has its preset.
  TrainOptions preset;
  ASSERT_OK(LoadTomlConfiguration(SearchPaths(options_.folder).Preset(), preset));
  EXPECT_TRUE(training_.Train(preset, "preset") == trained);
}

TEST_F(SearchWithoutSpaceTest, TheChoiceIsTrainedInFullBesideTheBest) {
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  ASSERT_TRUE(outcome.best);
  EXPECT_NE(*outcome.best, 0U);
  const Trial& best = outcome.trials[*outcome.best];
  const Trial& first = outcome.trials[0];
  EXPECT_EQ(first.epochs_done, first.options.epochs);
  EXPECT_EQ(best.epochs_done, best.options.epochs);
  EXPECT_GT(best.scores.mrr, first.scores.mrr);
  EXPECT_FALSE(std::filesystem::exists(SearchPaths(options_.folder).Trial(0).folder()));
  EXPECT_TRUE(std::filesystem::exists(outcome.run));
  TrainOptions preset;
  ASSERT_OK(LoadTomlConfiguration(SearchPaths(options_.folder).Preset(), preset));
  for (const OptionField& field : TrainOptionFields()) {
    EXPECT_EQ(field.format(preset), field.format(best.options)) << field.name;
  }
}

TEST_F(SearchWithoutSpaceTest, FailedAnywhereItComesToTheSame) {
  ASSERT_OK_AND_ASSIGN(const SearchOutcome unbroken, Search());
  std::filesystem::remove_all(options_.folder);
  for (const std::string step : {"tune.append", "tune.trained", "commit.C5"}) {
    for (const std::string count : {"1", "5"}) {
      ASSERT_OK(SetFailpoints(step + ":" + count + "=eio"));
      const auto failed = Search();
      ASSERT_OK(SetFailpoints(""));
      EXPECT_FALSE(failed.ok()) << step << ":" << count;
      options_.memory /= 2;  // the log has the candidates
      ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
      EXPECT_EQ(RankingText(outcome), RankingText(unbroken)) << step << ":" << count;
      std::filesystem::remove_all(options_.folder);
      options_.memory *= 2;
    }
  }
}

TEST_F(SearchWithoutSpaceTest, AValidationSampleIsNotPartOfTheRuns) {
  options_.validation_sample = 3;
  callbacks_.settings = [](const TrainOptions& options, const Graph&) -> absl::StatusOr<TrainSettings> {
    EXPECT_EQ(options.validation_sample, 0U);
    return TrainSettings{.memory = kPlenty,
                         .validate = [](const auto& run, const TrainOptions& sampling, std::uint64_t memory) {
                           EXPECT_EQ(sampling.validation_sample, 3U);
                           return ByRate(run, sampling, memory);
                         }};
  };
  ASSERT_OK(Search());
}

TEST_F(SearchWithoutSpaceTest, WithinATimeItTriesAsManyAsFit) {
  options_.trials = 50;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, TimedSearch(100'000, 100));
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  EXPECT_LE(now_, 100'000);
  EXPECT_GE(now_, 50'000) << "it uses the time";
  EXPECT_GT(LinesWith("\"left\""), 5U);
  const Trial& first = outcome.trials[0];
  EXPECT_EQ(first.epochs_done, first.options.epochs);
  ASSERT_TRUE(outcome.best);
  const Trial& best = outcome.trials[*outcome.best];
  EXPECT_EQ(best.epochs_done, best.options.epochs);
  EXPECT_GT(best.scores.mrr, first.scores.mrr);
}

TEST_F(SearchWithoutSpaceTest, IfTheTimeIsShortTheChoiceIsTrainedInFull) {
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, TimedSearch(1000, 100));
  EXPECT_EQ(outcome.best, 0U);
  EXPECT_EQ(outcome.trials[0].epochs_done, outcome.trials[0].options.epochs);
  for (std::size_t i = 1; i < outcome.trials.size(); ++i) {
    EXPECT_EQ(outcome.trials[i].failure, "left, for lack of time") << i;
  }
}

TEST_F(SearchWithoutSpaceTest, FewerEpochsAreNotMadeUpForByALargerDimension) {
  const TinyTraining training({.nodes = 1000, .relations = 10, .edges = 5000, .valid_share = 0.1});
  options_.graph = training.graph_folder();
  options_.trials = 1;
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(options_.graph));
  ASSERT_OK_AND_ASSIGN(const GraphFacts facts, MeasureFacts(*graph, options_.memory));
  const Choice choice = ChooseOptions(facts, graph->description(), options_.memory, {}, {});
  ASSERT_GT(choice.options.epochs, 20U);
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, TimedSearch(1, 0.01));
  EXPECT_LE(outcome.trials[0].options.epochs, 20U);
  EXPECT_LE(outcome.trials[0].options.dim, choice.options.dim);
}

TEST_F(SearchWithoutSpaceTest, DecisionsAreThoseOfTheLogWhateverTheClockSays) {
  options_.trials = 12;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome unbroken, TimedSearch(25'000, 100));
  ASSERT_GT(LinesWith("\"left\""), 0U);
  const std::string log = FileBytes(SearchPaths(options_.folder).Log());
  // Each part of the log is what a kill there leaves. By the clock of the resumed search nothing takes any time.
  const std::size_t lines = static_cast<std::size_t>(std::ranges::count(log, '\n'));
  ASSERT_GT(lines, 12U);
  std::size_t end = log.find('\n', log.find('\n') + 1) + 1;
  for (std::size_t line = 2; line < lines; ++line, end = log.find('\n', end) + 1) {
    if (line % 7 != 0) continue;
    std::filesystem::remove_all(options_.folder);
    std::filesystem::create_directories(options_.folder);
    const std::string before = log.substr(0, end);
    WriteFileBytes(SearchPaths(options_.folder).Log(), before);
    now_ = 0;
    ASSERT_OK_AND_ASSIGN(const SearchOutcome again, TimedSearch(25'000, 0));
    EXPECT_TRUE(FileBytes(SearchPaths(options_.folder).Log()).starts_with(before));
    for (std::size_t trial = 0; trial < again.trials.size(); ++trial) {
      const std::string decided = fmt::format("\"left\",\"trial\":{},\"rung\":0", trial);
      if (before.find(decided) == std::string::npos) continue;
      EXPECT_EQ(again.trials[trial].epochs_done, 0U) << "trial " << trial << " has left in line " << line;
    }
  }
}

TEST_F(SearchWithoutSpaceTest, ATrialThatHasBegunIsTrainedAfterAStop) {
  std::atomic<int> stop = 0;
  int batches = 0;
  callbacks_.train.on_batch = [&](const TrainProgress&) { stop = ++batches == 5 ? 1 : stop.load(); };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome stopped, TimedSearch(100'000, 100, &stop));
  EXPECT_EQ(stopped.end, SearchEnd::kStopped);
  EXPECT_EQ(LinesWith("\"begun\""), 1U);
  stop = 0;
  now_ = 0;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, TimedSearch(100'000, 100, &stop));
  EXPECT_EQ(outcome.end, SearchEnd::kDone);
  EXPECT_EQ(LinesWith("\"begun\",\"trial\":0,\"rung\":0"), 1U) << "it is not decided again";
}

TEST_F(SearchWithoutSpaceTest, OtherArgumentsAreAnotherSearch) {
  ASSERT_OK(Search());
  options_.seed = 2;
  EXPECT_ERROR(Search(), kUsage, "another --seed: found 2, expected 1");
  options_.seed = 1;
  options_.seconds = 60;
  EXPECT_ERROR(Search(), kUsage, "another --time: found 60 s, expected none");
}

TEST_F(SearchWithoutSpaceTest, WithoutValidEdgesItHoldsSomeOutAndTrainsTheBestOnAll) {
  const TinyTraining without({.nodes = 30, .relations = 3, .edges = 200});
  options_.graph = without.graph_folder();
  std::uint64_t held_out = 0;
  callbacks_.on_held_out = [&](std::uint64_t edges) { held_out = edges; };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_GT(held_out, 10U);
  EXPECT_EQ(outcome.held_out, held_out);
  ASSERT_TRUE(outcome.best);
  EXPECT_EQ(outcome.run, SearchPaths(options_.folder).WholeRun().folder());
  EXPECT_FALSE(std::filesystem::exists(SearchPaths(options_.folder).Trial(*outcome.best).folder()));
  TrainOptions preset;
  ASSERT_OK(LoadTomlConfiguration(SearchPaths(options_.folder).Preset(), preset));
  EXPECT_TRUE(ReadRunBytes(outcome.run) == without.Train(preset));
  ASSERT_OK_AND_ASSIGN(const RunConfiguration configuration,
                       ReadRunConfiguration(SearchPaths(options_.folder).WholeRun().Configuration()));
  EXPECT_EQ(configuration.graph, std::filesystem::absolute(without.graph_folder()));
  // Once more it trains nothing.
  callbacks_.on_begin = [](const Halving&, Halving::Task task, const Trial&) { ADD_FAILURE() << task.trial; };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome again, Search());
  EXPECT_EQ(again.run, outcome.run);
}

// A search whose candidates are given, and whose clock moves with each batch.
class SearchOfGivenCandidatesTest : public SearchWithoutSpaceTest {
 protected:
  static constexpr std::uint64_t kLargerDim = 16;

  // Returns `count` candidates of `epochs` epochs, all of which have a lower rate than the first.
  static std::vector<TrainOptions> Candidates(std::size_t count, std::uint64_t epochs) {
    std::vector<TrainOptions> candidates(count, TinyOptions());
    for (std::size_t i = 0; i < count; ++i) {
      candidates[i].epochs = epochs;
      candidates[i].learning_rate = 0.1 / static_cast<double>(i + 1);
    }
    return candidates;
  }
  // Searches within `seconds`. A training of the candidates in full takes `in_full` seconds, and `larger` with
  // kLargerDim dimensions.
  absl::StatusOr<SearchOutcome> SearchOf(const LoggedCandidates& candidates, double seconds, double in_full,
                                         double larger, const std::atomic<int>* stop = nullptr) {
    options_.trials = candidates.options.size();
    options_.seconds = seconds;
    {
      ASSIGN_OR_RETURN(const auto graph, Graph::Open(options_.graph));
      std::filesystem::create_directories(options_.folder);
      ASSIGN_OR_RETURN(SearchLog log,
                       SearchLog::Open(SearchPaths(options_.folder).Log(), ArgumentsOf(options_, *graph)));
      RETURN_IF_ERROR(log.AppendCandidates(candidates));
    }
    const auto take = [=, this](const Trial& trial) {
      of_epoch_ = (trial.options.dim == kLargerDim ? larger : in_full) / static_cast<double>(trial.options.epochs);
    };
    callbacks_.clock = [this] { return now_; };
    callbacks_.on_begin = [take](const Halving&, Halving::Task, const Trial& trial) { take(trial); };
    callbacks_.on_whole = take;
    callbacks_.train.on_batch = [this](const TrainProgress& progress) {
      now_ += of_epoch_ / static_cast<double>(progress.batches);
    };
    return Search(stop);
  }
  // Each validation takes so many seconds, and asks for a stop if there is one.
  void ValidationsTake(double seconds, std::atomic<int>* stop = nullptr) {
    callbacks_.settings = [this, seconds, stop](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
      const auto validate = [this, seconds, stop](const auto&... arguments) -> absl::StatusOr<ValidationScores> {
        now_ += seconds;
        if (stop != nullptr) *stop = 1;
        return stop != nullptr ? absl::CancelledError() : ByRate(arguments...);
      };
      return TrainSettings{.memory = kPlenty, .validate = validate};
    };
  }

 private:
  double of_epoch_ = 0;
};

TEST_F(SearchOfGivenCandidatesTest, ALargerOneBeginsOnlyIfWhatIsExpectedOfItFits) {
  LoggedCandidates candidates = {.options = Candidates(2, 9), .larger_seconds = 5000};
  candidates.options[1].dim = kLargerDim;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf(candidates, 3000, 900, 900));
  EXPECT_EQ(outcome.trials[0].epochs_done, 9U);
  EXPECT_EQ(outcome.trials[1].failure, "left, for lack of time");
  EXPECT_EQ(outcome.trials[1].epochs_done, 0U);
}

std::int64_t CountDone(const SearchOutcome& outcome, std::uint64_t epochs) {
  return std::ranges::count_if(outcome.trials, [&](const Trial& trial) { return trial.epochs_done >= epochs; });
}

// It takes eleven times as long as the first, more than another candidate may. So it does not count in what is expected
// of the others, of which few would begin.
TEST_F(SearchOfGivenCandidatesTest, TheLargerOneIsTrainedInFullBesideManyOthers) {
  LoggedCandidates candidates = {.options = Candidates(60, 9), .larger_seconds = 1000};
  candidates.options[1].dim = kLargerDim;
  candidates.options[1].learning_rate = 0.2;  // the best
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf(candidates, 1600, 90, 1000));
  EXPECT_EQ(outcome.trials[1].epochs_done, 9U) << outcome.trials[1].failure;
  EXPECT_EQ(outcome.best, 1U);
  EXPECT_LE(now_, 1600);
  EXPECT_GT(CountDone(outcome, 1), 20);
}

TEST_F(SearchOfGivenCandidatesTest, ALargerOneThatIsNotAmongTheBestLeavesTheOthersTheirTime) {
  LoggedCandidates candidates = {.options = Candidates(60, 9), .larger_seconds = 1000};
  candidates.options[1].dim = kLargerDim;
  candidates.options[1].learning_rate = 0.0001;  // the worst
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf(candidates, 1600, 90, 1000));
  EXPECT_EQ(outcome.trials[1].epochs_done, 1U);
  EXPECT_GT(CountDone(outcome, 1), 45);
  EXPECT_GT(CountDone(outcome, 9), 5);
  EXPECT_LE(now_, 1600);
}

TEST_F(SearchOfGivenCandidatesTest, ALargerOneThatTurnsOutNotToFitLeavesTheOthersTheirTime) {
  LoggedCandidates candidates = {.options = Candidates(60, 9), .larger_seconds = 1000};
  candidates.options[1].dim = kLargerDim;
  candidates.options[1].learning_rate = 0.2;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf(candidates, 2000, 90, 2000));
  EXPECT_LT(outcome.trials[1].epochs_done, 9U);
  EXPECT_GT(CountDone(outcome, 1), 20);
  EXPECT_LE(now_, 2000);
}

TEST_F(SearchOfGivenCandidatesTest, OneThatIsSlowUnexpectedlyLeaves) {
  LoggedCandidates candidates = {.options = Candidates(60, 9)};
  candidates.options[1].dim = kLargerDim;
  candidates.options[1].learning_rate = 0.2;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf(candidates, 2000, 90, 1800));
  EXPECT_EQ(outcome.trials[1].epochs_done, 0U);
}

TEST_F(SearchOfGivenCandidatesTest, TheTrainingOnAllEdgesHasItsTime) {
  const TinyTraining training({.nodes = 30, .relations = 3, .edges = 200});
  options_.graph = training.graph_folder();
  LoggedCandidates candidates = {.options = Candidates(100, 9), .larger_seconds = 500};
  candidates.options[1].dim = kLargerDim;
  candidates.options[1].learning_rate = 0.2;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf(candidates, 2000, 40, 500));
  EXPECT_EQ(outcome.best, 1U);
  EXPECT_EQ(outcome.run, SearchPaths(options_.folder).WholeRun().folder());
  EXPECT_LE(now_, 2000);
  EXPECT_GT(now_, 1400);
}

// The best takes three times as long as those that are trained after it.
TEST_F(SearchOfGivenCandidatesTest, TheTrainingOnAllEdgesHasTheTimeOfTheBest) {
  const TinyTraining training({.nodes = 30, .relations = 3, .edges = 200});
  options_.graph = training.graph_folder();
  LoggedCandidates candidates = {.options = Candidates(40, 9)};
  candidates.options[1].dim = kLargerDim;
  candidates.options[1].learning_rate = 0.2;
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf(candidates, 2000, 100, 300));
  EXPECT_EQ(outcome.best, 1U);
  EXPECT_LE(now_, 2000);
  EXPECT_GT(now_, 1400);
}

// A training in full takes 90 seconds, and three validations of 60. If each epoch counted as one with a validation, six
// trials would begin, and two would be trained in full.
TEST_F(SearchOfGivenCandidatesTest, ValidationsCountOnceInARung) {
  ValidationsTake(60);
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf({.options = Candidates(60, 9)}, 1600, 90, 0));
  EXPECT_NEAR(outcome.trials[0].fixed_seconds, 180, 1e-6);
  EXPECT_EQ(outcome.trials[0].timed_rungs, 3U);
  EXPECT_EQ(CountDone(outcome, 1), 9);
  EXPECT_EQ(CountDone(outcome, 9), 3);
  EXPECT_LE(now_, 1600);
}

TEST_F(SearchOfGivenCandidatesTest, StartsCountOnceInARung) {
  callbacks_.settings = [this](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
    now_ += 60;
    return TrainSettings{.memory = kPlenty, .validate = ByRate};
  };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf({.options = Candidates(60, 9)}, 1600, 90, 0));
  EXPECT_NEAR(outcome.trials[0].fixed_seconds, 180, 1e-6);
  EXPECT_EQ(CountDone(outcome, 1), 9);
  EXPECT_EQ(CountDone(outcome, 9), 3);
  EXPECT_LE(now_, 1600);
}

TEST_F(SearchOfGivenCandidatesTest, HoldingOutEdgesIsNoPartOfATrial) {
  const TinyTraining training({.nodes = 30, .relations = 3, .edges = 200});
  options_.graph = training.graph_folder();
  callbacks_.on_held_out = [this](std::uint64_t) { now_ += 300; };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf({.options = Candidates(60, 9)}, 2000, 90, 0));
  EXPECT_NEAR(outcome.trials[0].seconds, 90, 1e-6);
  EXPECT_GT(CountDone(outcome, 9), 2);
}

// With 150 seconds each, no more than the first fits: 90 + 3 * 150 seconds, and 10 + 150 for another to begin.
TEST_F(SearchOfGivenCandidatesTest, ValidationsHaveTheirTime) {
  ValidationsTake(150);
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf({.options = Candidates(60, 9)}, 700, 90, 0));
  EXPECT_EQ(CountDone(outcome, 1), 1);
  EXPECT_NEAR(now_, 90 + 3 * 150, 1e-6);
}

// The commit has the epochs, but the log does not have their time.
TEST_F(SearchOfGivenCandidatesTest, AfterAKillInAValidationItsTimeCountsForTheEpochs) {
  ValidationsTake(60);
  ASSERT_OK(SetFailpoints("tune.trained=eio"));
  EXPECT_FALSE(SearchOf({.options = Candidates(3, 9)}, 5000, 90, 0).ok());
  ASSERT_OK(SetFailpoints(""));
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.trials[0].timed_rungs, 2U);
  EXPECT_NEAR(outcome.trials[0].fixed_seconds, 2 * 60, 1e-6);
  EXPECT_EQ(outcome.trials[1].timed_rungs, 3U);
}

TEST_F(SearchOfGivenCandidatesTest, AStoppedValidationIsNoEpoch) {
  std::atomic<int> stop = 0;
  ValidationsTake(60, &stop);
  ASSERT_OK_AND_ASSIGN(const SearchOutcome stopped, SearchOf({.options = Candidates(3, 9)}, 5000, 90, 0, &stop));
  EXPECT_EQ(stopped.end, SearchEnd::kStopped);
  EXPECT_EQ(LinesWith("\"paused\""), 1U);
  stop = 0;
  ValidationsTake(60);
  double spent = 0;
  callbacks_.on_continue = [&spent](double seconds) { spent = seconds; };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, Search());
  EXPECT_EQ(outcome.trials[0].timed_rungs, 3U);
  EXPECT_NEAR(outcome.trials[0].fixed_seconds, 4 * 60, 1e-6) << "one was repeated";
  EXPECT_NEAR(spent, stopped.seconds, 1e-6);
  EXPECT_GT(spent, 60);
}

TEST_F(SearchOfGivenCandidatesTest, WithoutTheFirstTheOthersAreNotTooSlow) {
  callbacks_.settings = [](const TrainOptions& options, const Graph&) -> absl::StatusOr<TrainSettings> {
    if (options.learning_rate == 0.1) return UsageError("does not fit");
    return TrainSettings{.memory = kPlenty, .validate = ByRate};
  };
  ASSERT_OK_AND_ASSIGN(const SearchOutcome outcome, SearchOf({.options = Candidates(12, 4)}, 1000, 250, 0));
  EXPECT_EQ(outcome.trials[0].failure, "does not fit");
  EXPECT_EQ(outcome.best, 1U);
  EXPECT_EQ(outcome.trials[1].epochs_done, 4U);
}

}  // namespace
}  // namespace octavo
