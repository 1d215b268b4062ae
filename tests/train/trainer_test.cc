#include "train/trainer.h"
#include "base/parallel.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "nlohmann/json.hpp"
#include "tests/train/tiny_training.h"
#include "train/batch_schedule.h"
#include "train/trained_run.h"

namespace octavo {
namespace {

// Options whose training is sensitive to everything that a stop could lose: Adam's count of steps, windows of several
// batches, the course of the learning rate.
TrainOptions TouchyOptions() {
  TrainOptions options = TinyOptions();
  options.optimizer = OptimizerKind::kAdam;
  options.accumulate = 3;
  options.batch = 9;
  options.chunk = 4;
  options.epochs = 4;
  options.learning_rate_schedule = LearningRateSchedule::kCosine;
  options.regularizer = RegularizerKind::kN3;
  options.regularization = 0.01;
  options.degree_fraction = 0.5;
  options.reciprocal = true;
  return options;
}

// With a cut within the epoch, two batches before its end.
TrainOptions PipelinedOptions() {
  TrainOptions options = TouchyOptions();
  options.schedule = Schedule::kPipelined;
  options.accumulate = 1;
  options.batch = 3;
  options.chunk = 2;
  options.epochs = 2;
  return options;
}

std::vector<TrainOptions> SomeTrainings() {
  TrainOptions plain = TinyOptions();
  TrainOptions rotate = TouchyOptions();
  rotate.model = ModelKind::kRotatE;
  rotate.loss = LossKind::kSelfAdversarial;
  TrainOptions dot = TinyOptions();
  dot.model = ModelKind::kDot;
  dot.optimizer = OptimizerKind::kSgd;
  dot.negatives = 0;
  TrainOptions words = TouchyOptions();
  words.storage = NpyElement::kBfloat16;
  TrainOptions words_at_once = words;
  words_at_once.accumulate = 1;
  return {plain, TouchyOptions(), rotate, dot, words, words_at_once, PipelinedOptions()};
}

// The events of metrics.jsonl.
std::vector<nlohmann::json> Events(const std::filesystem::path& run) {
  std::vector<nlohmann::json> events;
  std::ifstream file(RunPaths(run).Metrics());
  for (std::string line; std::getline(file, line);) events.push_back(nlohmann::json::parse(line));
  return events;
}

bool AllFinite(const std::filesystem::path& folder) {
  const auto run = OpenTrainedRun(folder);
  EXPECT_OK(run);
  if (!run.ok()) return false;
  std::vector<float> rows(run->embeddings.rows() * run->embeddings.columns());
  EXPECT_OK(run->embeddings.ReadRows(0, rows));
  rows.insert(rows.end(), run->relations.begin(), run->relations.end());
  return std::all_of(rows.begin(), rows.end(), [](float x) { return std::isfinite(x); });
}

TEST(Trainer, FinishedRunHasTheFilesOfTheContract) {
  const TinyTraining training;
  training.Train(TinyOptions());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(training.run_folder())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"LOCK", "STATE", "embeddings.npy", "metrics.jsonl", "optimizer.npy",
                                             "relations.npy", "relations.optimizer.npy", "run.json"}));
}

TEST(Trainer, LearnsSomething) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 30;
  training.Train(options);
  const auto events = Events(training.run_folder());
  ASSERT_EQ(events.size(), 30U);
  EXPECT_LT(events.back()["loss"], 0.7 * events.front()["loss"].get<double>());
}

TEST(Trainer, SameBytesForAnyNumberOfThreads) {
  const TinyTraining training({.nodes = 400, .relations = 5, .edges = 3000, .weights = true});
  for (TrainOptions options : SomeTrainings()) {
    options.batch = 700;
    options.chunk = 64;
    options.dim = 32;
    std::vector<RunBytes> runs;
    for (const int threads : {1, 2, 4}) {
      runs.push_back(WithThreads(threads, [&] { return training.Train(options); }));
      std::filesystem::remove_all(training.run_folder());
    }
    EXPECT_TRUE(runs[0] == runs[1]);
    EXPECT_TRUE(runs[0] == runs[2]);
    EXPECT_GT(runs[0].embeddings.size(), 400U * 32 * ElementBytes(options.storage));
  }
}

// Rounding may not be seen in what is learned: the loss of each epoch is that of floats, within two per cent.
TEST(Trainer, Bfloat16LearnsAsFloatsDo) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 30;
  const RunBytes floats = training.Train(options, "floats");
  options.storage = NpyElement::kBfloat16;
  const RunBytes words = training.Train(options, "words");
  EXPECT_EQ(words.embeddings.size() - kNpyHeaderBytes, (floats.embeddings.size() - kNpyHeaderBytes) / 2);
  EXPECT_EQ(words.optimizer.size(), floats.optimizer.size());
  EXPECT_EQ(words.relations.size(), floats.relations.size());
  const auto expected = Events(training.run_folder("floats"));
  const auto found = Events(training.run_folder("words"));
  ASSERT_EQ(found.size(), 30U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double loss = expected[i]["loss"];
    EXPECT_NEAR(found[i]["loss"].get<double>(), loss, 0.02 * loss) << "epoch " << i + 1;
  }
}

// With 4 of 8 partitions in memory, too: rows come and go as words.
TEST(Trainer, Bfloat16InPartitionsIsTheSameForAnyThreadsAndStops) {
  const TinyTraining training({.nodes = 8000, .relations = 3, .edges = 9000});
  TrainOptions options = TouchyOptions();
  options.storage = NpyElement::kBfloat16;
  options.partitions = 8;
  options.resident = 4;
  options.batch = 700;
  options.chunk = 64;
  options.epochs = 2;
  const RunBytes one = WithThreads(1, [&] { return training.Train(options, "one"); });
  for (const int threads : {2, 4}) {
    EXPECT_TRUE(WithThreads(threads, [&] { return training.Train(options, "threads" + std::to_string(threads)); }) ==
                one);
  }
  std::atomic<int> stop = 0;
  int windows = 0;
  ASSERT_OK_AND_ASSIGN(
      const TrainOutcome outcome,
      training.Start(options, "stopped", {.memory = kPlenty, .stop = &stop},
                     {.on_batch = [&](const TrainProgress&) { stop = ++windows == 7 ? 1 : 0; }, .on_epoch = {}}));
  EXPECT_FALSE(outcome.finished);
  ASSERT_OK(training.Resume(0, "stopped"));
  EXPECT_TRUE(ReadRunBytes(training.run_folder("stopped")) == one);
}

TEST(Trainer, AnotherSeedIsAnotherTraining) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  const RunBytes one = training.Train(options, "one");
  EXPECT_TRUE(training.Train(options, "same") == one);
  options.seed = 2;
  EXPECT_FALSE(training.Train(options, "two") == one);
}

// More edges than a window, so that there is something to read ahead.
TEST(Trainer, SameBytesHoweverEdgesAreRead) {
  const TinyTraining training({.nodes = 3000, .relations = 40, .edges = kWindowEdges + kWindowEdges / 8});
  TrainOptions options = TinyOptions();
  options.model = ModelKind::kDot;
  options.dim = 2;
  options.negatives = 2;
  options.batch = 50'000;
  options.chunk = 1'000;
  options.prefetch = PrefetchMode::kOff;
  const RunBytes off = training.Train(options, "off");
  ASSERT_EQ(Events(training.run_folder("off")).size(), 2U);
  EXPECT_GT(Events(training.run_folder("off"))[0]["edges"], kWindowEdges);
  options.prefetch = PrefetchMode::kOn;
  EXPECT_TRUE(training.Train(options, "on") == off);
  options.prefetch = PrefetchMode::kAuto;
  EXPECT_TRUE(training.Train(options, "auto") == off);
  // Stopped in the second window of the second epoch.
  std::atomic<int> stop = 0;
  options.prefetch = PrefetchMode::kOn;
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome,
                       training.Start(options, "stopped", {.memory = kPlenty, .stop = &stop},
                                      {.on_batch =
                                           [&](const TrainProgress& progress) {
                                             if (progress.epoch == 2 && progress.batch == 11) stop = 1;
                                           },
                                       .on_epoch = {}}));
  EXPECT_FALSE(outcome.finished);
  ASSERT_OK(training.Resume(0, "stopped"));
  EXPECT_TRUE(ReadRunBytes(training.run_folder("stopped")) == off);
}

TEST(Trainer, CommitsWithinAnEpochChangeNoBit) {
  const TinyTraining training;
  TrainOptions options = TouchyOptions();
  const RunBytes plain = training.Train(options, "plain");
  options.checkpoint_minutes = 1e-9;  // after every window
  EXPECT_TRUE(training.Train(options, "often") == plain);
  ASSERT_OK_AND_ASSIGN(const TrainedRun run, OpenTrainedRun(training.run_folder("often")));
  EXPECT_GT(run.generation, 12U);
  EXPECT_EQ(Events(training.run_folder("often")).size(), 4U);
}

TEST(Trainer, CommitsBetweenPipelinedBatchesChangeNoBit) {
  const TinyTraining training;
  TrainOptions options = PipelinedOptions();
  const RunBytes plain = training.Train(options, "plain");
  options.checkpoint_minutes = 1e-9;  // at every cut
  EXPECT_TRUE(training.Train(options, "often") == plain);
  ASSERT_OK_AND_ASSIGN(const TrainedRun run, OpenTrainedRun(training.run_folder("often")));
  EXPECT_EQ(run.generation, 5U);  // the first, and two each epoch
}

TEST(Trainer, PipelinedIsAnotherTrainingThatLearnsAsMuch) {
  const TinyTraining training;
  TrainOptions options = PipelinedOptions();
  options.epochs = 30;
  const RunBytes pipelined = training.Train(options, "pipelined");
  options.schedule = Schedule::kSync;
  EXPECT_FALSE(training.Train(options, "sync") == pipelined);
  EXPECT_NEAR(Events(training.run_folder("pipelined")).back()["loss"].get<double>(),
              Events(training.run_folder("sync")).back()["loss"].get<double>(), 0.05);
}

// Not the same bits, but every edge once, and as good.
TEST(Trainer, AsyncLearnsAndResumes) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 30;
  training.Train(options, "sync");
  options.schedule = Schedule::kAsync;
  int windows = 0;
  std::atomic<int> stop = 0;
  ASSERT_OK(WithThreads(4, [&] {
    return training.Start(options, "run", {.memory = kPlenty, .stop = &stop},
                          {.on_batch =
                               [&](const TrainProgress&) {
                                 if (++windows == 42) stop = 1;
                               },
                           .on_epoch = {}});
  }));
  EXPECT_EQ(windows, 42);
  ASSERT_OK(WithThreads(4, [&] { return training.Resume(); }));
  const auto events = Events(training.run_folder());
  ASSERT_EQ(events.size(), 30U);
  for (const auto& event : events) EXPECT_EQ(event["edges"], events[0]["edges"]);
  EXPECT_NEAR(events.back()["loss"].get<double>(), Events(training.run_folder("sync")).back()["loss"].get<double>(),
              0.05);
  EXPECT_TRUE(AllFinite(training.run_folder()));
}

// Stops at every window of the training, and resumes.
TEST(Trainer, StoppedAndResumedIsUnbroken) {
  const TinyTraining training;
  for (const TrainOptions& options : SomeTrainings()) {
    const RunBytes unbroken = training.Train(options, "unbroken");
    const auto unbroken_events = Events(training.run_folder("unbroken"));
    int windows = 0;
    for (int at = 1;; ++at) {
      std::atomic<int> stop = 0;
      windows = 0;
      ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome,
                           training.Start(options, "run", {.memory = kPlenty, .stop = &stop},
                                          {.on_batch =
                                               [&](const TrainProgress&) {
                                                 if (++windows == at) stop = 1;
                                               },
                                           .on_epoch = {}}));
      if (!outcome.finished) {
        // No further batch after the signal, but for those to the next cut.
        const int most = options.schedule == Schedule::kPipelined ? static_cast<int>(kPipelineBatches) - 1 : 0;
        ASSERT_GE(windows, at);
        ASSERT_LE(windows, at + most);
        ASSERT_OK_AND_ASSIGN(const TrainOutcome resumed, training.Resume());
        EXPECT_TRUE(resumed.finished);
      }
      EXPECT_TRUE(ReadRunBytes(training.run_folder()) == unbroken) << at;
      const auto events = Events(training.run_folder());
      ASSERT_EQ(events.size(), unbroken_events.size());
      for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(events[i]["epoch"], i + 1);
        EXPECT_EQ(events[i]["loss"], unbroken_events[i]["loss"]) << at << " " << i;
        EXPECT_EQ(events[i]["penalty"], unbroken_events[i]["penalty"]);
        EXPECT_EQ(events[i]["edges"], unbroken_events[i]["edges"]);
        EXPECT_EQ(events[i]["learning_rate"], unbroken_events[i]["learning_rate"]);
      }
      std::filesystem::remove_all(training.run_folder());
      if (outcome.finished) break;
    }
    EXPECT_GT(windows, 3);
    std::filesystem::remove_all(training.run_folder("unbroken"));
  }
}

TEST(Trainer, StoppedAgainAndAgainIsUnbroken) {
  const TinyTraining training;
  const TrainOptions options = TouchyOptions();
  const RunBytes unbroken = training.Train(options, "unbroken");
  std::atomic<int> stop = 0;
  const TrainCallbacks callbacks = {.on_batch = [&](const TrainProgress&) { stop = 1; }, .on_epoch = {}};
  const TrainSettings settings = {.memory = kPlenty, .stop = &stop};
  ASSERT_OK_AND_ASSIGN(TrainOutcome outcome, training.Start(options, "run", settings, callbacks));
  int resumes = 0;
  for (; !outcome.finished; ++resumes) {
    ASSERT_LT(resumes, 100);
    stop = 0;
    ASSERT_OK_AND_ASSIGN(outcome, training.Resume(0, "run", settings, callbacks));
  }
  EXPECT_GT(resumes, 8);
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == unbroken);
}

// A signal that comes before the first batch: generation 1 is committed, and that is all.
TEST(Trainer, StoppedBeforeItBegan) {
  const TinyTraining training;
  const RunBytes unbroken = training.Train(TinyOptions(), "unbroken");
  std::atomic<int> stop = 1;
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome,
                       training.Start(TinyOptions(), "run", {.memory = kPlenty, .stop = &stop}));
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.generation, 1U);
  EXPECT_EQ(outcome.epochs_done, 0U);
  ASSERT_OK(training.Resume());
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == unbroken);
}

// A commit that fails on the way: the last one stands, and a resume gives the bits of an unbroken run.
TEST(Trainer, FailedCommitLosesNothing) {
  const TinyTraining training;
  const TrainOptions options = TouchyOptions();
  const RunBytes unbroken = training.Train(options, "unbroken");
  for (const std::string step : {"commit.C1", "commit.C2", "commit.C3", "commit.C4", "commit.C5", "commit.C6",
                                 "commit.C7", "train.batch", "finish.remove"}) {
    for (const std::string count : {"1", "2", "3"}) {
      ASSERT_OK(SetFailpoints(step + ":" + count + "=eio"));
      const auto outcome = training.Start(options);
      ASSERT_OK(SetFailpoints(""));
      if (step == "finish.remove" && count != "1") {
        ASSERT_OK(outcome);
      } else if (outcome.ok()) {
        ADD_FAILURE() << step << ":" << count << " did not fail";
      } else {
        EXPECT_EQ(KindOf(outcome.status()), ErrorKind::kRuntime) << outcome.status().ToString();
        EXPECT_OK(OpenTrainedRun(training.run_folder())) << step << ":" << count;
        EXPECT_OK(training.Resume()) << step << ":" << count;
      }
      EXPECT_TRUE(ReadRunBytes(training.run_folder()) == unbroken) << step << ":" << count;
      EXPECT_EQ(Events(training.run_folder()).size(), 4U) << step << ":" << count;
      std::filesystem::remove_all(training.run_folder());
    }
  }
}

TEST(Trainer, ResumeWithMoreEpochs) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 5;
  const RunBytes five = training.Train(options, "five");
  options.epochs = 2;
  training.Train(options);
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome, training.Resume(5));
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.epochs_done, 5U);
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == five);
  // What run.json says from now on.
  ASSERT_OK_AND_ASSIGN(const TrainOutcome again, training.Resume());
  EXPECT_EQ(again.epochs_done, 5U);
  EXPECT_EQ(Events(training.run_folder()).size(), 5U);
  EXPECT_ERROR(training.Resume(4), kUsage, "5 epochs are done already");
}

// Resuming what is finished changes nothing.
TEST(Trainer, ResumeOfAFinishedRun) {
  const TinyTraining training;
  const RunBytes bytes = training.Train(TinyOptions());
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome, training.Resume());
    EXPECT_TRUE(outcome.finished);
    EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
    EXPECT_FALSE(std::filesystem::exists(RunPaths(training.run_folder()).Table(TableName::kEmbeddings, 1)));
  }
}

// A run stopped within epoch 3 cannot end after epoch 2: that state is gone.
TEST(Trainer, ResumeToFewerEpochsThanBegun) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 4;
  const RunBytes unbroken = training.Train(options, "unbroken");
  std::atomic<int> stop = 0;
  ASSERT_OK(training.Start(options, "run", {.memory = kPlenty, .stop = &stop},
                           {.on_batch =
                                [&](const TrainProgress& progress) {
                                  if (progress.epoch == 3 && progress.batch == 2) stop = 1;
                                },
                            .on_epoch = {}}));
  EXPECT_ERROR(training.Resume(1), kUsage, "2 epochs");
  EXPECT_ERROR(training.Resume(2), kUsage, "2 epochs");
  ASSERT_OK(training.Resume());
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == unbroken);
}

// A refused resume must not leave its number of epochs in run.json.
TEST(Trainer, RefusedResumeChangesNothing) {
  const TinyTraining training;
  training.Train(TinyOptions());
  const RunPaths paths(training.run_folder());
  const std::string before = FileBytes(paths.Configuration());
  EXPECT_ERROR(training.Resume(1), kUsage, "");
  EXPECT_ERROR(training.Resume(9, "run", {.memory = 1 << 20}), kUsage, "--memory");
  EXPECT_EQ(FileBytes(paths.Configuration()), before);
}

TEST(Trainer, ExplodingRateStopsWithBatchAndRelationNamed) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.optimizer = OptimizerKind::kSgd;
  options.learning_rate = 1000;
  options.epochs = 50;
  for (const NpyElement storage : {NpyElement::kFloat32, NpyElement::kBfloat16}) {
    options.storage = storage;
    const auto outcome = training.Start(options);
    EXPECT_ERROR(outcome, kRuntime, "not finite");
    EXPECT_ERROR(outcome, kRuntime, "batch ");
    EXPECT_ERROR(outcome, kRuntime, "\"r");
    EXPECT_TRUE(AllFinite(training.run_folder()));
    std::filesystem::remove_all(training.run_folder());
  }
}

// The last update of an epoch used to be committed unseen: a finite loss can have a gradient that is not.
TEST(Trainer, NeverCommitsWhatIsNotFinite) {
  const TinyTraining training({.weights = true, .weight_scale = 1e38});
  for (const ModelKind model : {ModelKind::kDot, ModelKind::kComplEx, ModelKind::kTransE}) {
    for (const auto& [batch, storage] : {std::pair(100U, NpyElement::kFloat32), std::pair(50U, NpyElement::kFloat32),
                                         std::pair(50U, NpyElement::kBfloat16)}) {
      TrainOptions options = TinyOptions();
      options.model = model;
      options.optimizer = OptimizerKind::kSgd;
      options.learning_rate = 1000;
      options.batch = batch;
      options.storage = storage;
      const auto outcome = training.Start(options);
      EXPECT_ERROR(outcome, kRuntime, "not finite");
      EXPECT_ERROR(outcome, kRuntime, "epoch 1, batch ");
      EXPECT_TRUE(AllFinite(training.run_folder())) << ModelName(model) << " " << batch;
      std::filesystem::remove_all(training.run_folder());
    }
  }
}

TEST(Trainer, RefusesAFolderWithARun) {
  const TinyTraining training;
  const RunBytes bytes = training.Train(TinyOptions());
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "--overwrite");
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
}

TEST(Trainer, OverwriteStartsAfresh) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  const RunBytes bytes = training.Train(options, "expected");
  options.seed = 5;
  options.dim = 16;
  options.optimizer = OptimizerKind::kAdam;
  training.Train(options);
  WriteFileBytes(training.run_folder() / "notes.txt", "mine");
  ASSERT_OK(StartRun(training.graph_folder(), training.run_folder(), TinyOptions(), /*overwrite=*/true,
                     {.memory = kPlenty}, {}));
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
  EXPECT_EQ(Events(training.run_folder()).size(), 2U);
  EXPECT_EQ(FileBytes(training.run_folder() / "notes.txt"), "mine");
}

// An overwrite that is refused leaves the old run alone.
TEST(Trainer, RefusedOverwriteKeepsTheRun) {
  const TinyTraining training;
  const RunBytes bytes = training.Train(TinyOptions());
  TrainOptions odd = TinyOptions();
  odd.dim = 7;
  EXPECT_ERROR(StartRun(training.graph_folder(), training.run_folder(), odd, true, {.memory = kPlenty}, {}), kUsage,
               "7");
  EXPECT_ERROR(StartRun(training.graph_folder(), training.run_folder(), TinyOptions(), true, {.memory = 1 << 20}, {}),
               kUsage, "--memory");
  EXPECT_ERROR(
      StartRun(training.folder() / "absent", training.run_folder(), TinyOptions(), true, {.memory = kPlenty}, {}),
      kUsage, "absent");
  // What run.json cannot name was found out when the old run was gone.
  const std::filesystem::path odd_name = training.folder() / "gr\xFFph";
  std::filesystem::copy(training.graph_folder(), odd_name);
  EXPECT_ERROR(StartRun(odd_name, training.run_folder(), TinyOptions(), true, {.memory = kPlenty}, {}), kUsage,
               "not UTF-8");
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
  EXPECT_OK(training.Resume());
}

// A folder of somebody's own vectors is no run: they are not to be removed without being asked.
TEST(Trainer, KeepsFilesThatAreNotARuns) {
  const TinyTraining training;
  std::filesystem::create_directory(training.run_folder());
  WriteFileBytes(training.run_folder() / "embeddings.npy", "mine");
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "embeddings.npy");
  WriteFileBytes(training.run_folder() / "run.json", "{\"mine\": true}");
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "belongs to no run");
  EXPECT_EQ(FileBytes(training.run_folder() / "embeddings.npy"), "mine");
  EXPECT_OK(StartRun(training.graph_folder(), training.run_folder(), TinyOptions(), true, {.memory = kPlenty}, {}));
}

// A start that was killed before its first commit left run.json and tables but no STATE.
TEST(Trainer, StartsAgainAfterAStartThatDidNotGetFar) {
  const TinyTraining training;
  const RunBytes bytes = training.Train(TinyOptions());
  std::filesystem::remove(RunPaths(training.run_folder()).State());
  EXPECT_ERROR(training.Resume(), kUsage, "no run here");
  // With metrics.jsonl there was a run once: its vectors are not taken for leftovers.
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "--overwrite");
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
  std::filesystem::remove(RunPaths(training.run_folder()).Metrics());
  ASSERT_OK(training.Start(TinyOptions()));
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
}

TEST(Trainer, RunInUseIsBusy) {
  const TinyTraining training;
  int tried = 0;
  const TrainCallbacks callbacks = {.on_batch =
                                        [&](const TrainProgress&) {
                                          if (tried++ != 0) return;
                                          EXPECT_ERROR(training.Resume(), kBusy, "pid");
                                          EXPECT_ERROR(training.Start(TinyOptions()), kBusy, "pid");
                                          EXPECT_ERROR(StartRun(training.graph_folder(), training.run_folder(),
                                                                TinyOptions(), true, {.memory = kPlenty}, {}),
                                                       kBusy, "in use");
                                          EXPECT_OK(OpenTrainedRun(training.run_folder()));
                                        },
                                    .on_epoch = {}};
  ASSERT_OK(training.Start(TinyOptions(), "run", {.memory = kPlenty}, callbacks));
  EXPECT_GT(tried, 0);
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == training.Train(TinyOptions(), "alone"));
}

TEST(Trainer, RefusesPathsThatAreNone) {
  const TinyTraining training;
  WriteFileBytes(training.folder() / "file", "x");
  EXPECT_ERROR(training.Start(TinyOptions(), "file"), kUsage, "not a folder");
  EXPECT_ERROR(training.Start(TinyOptions(), "file/run"), kUsage, "file/run");
  EXPECT_ERROR(training.Start(TinyOptions(), std::string(300, 'x')), kRuntime, "name too long");
  EXPECT_ERROR(training.Resume(0, std::string(300, 'x')), kUsage, "no run here");
  EXPECT_ERROR(training.Resume(0, "absent"), kUsage, "no run here");
  EXPECT_ERROR(training.Resume(0, "file"), kUsage, "no run here");
  EXPECT_FALSE(std::filesystem::exists(training.run_folder("absent")));
}

TEST(Trainer, RefusesAGraphWithoutTrainingEdgesOrAnotherGraph) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 2;
  training.Train(options);
  std::filesystem::remove_all(training.graph_folder());
  EXPECT_ERROR(training.Resume(3), kUsage, training.graph_folder().string());
  MakeTinyGraph({.seed = 8}, training.graph_folder());
  EXPECT_ERROR(training.Resume(3), kCorrupt, "fingerprint");
}

TEST(Trainer, DamagedRunIsRefused) {
  const TinyTraining training;
  std::atomic<int> stop = 0;
  ASSERT_OK(training.Start(TouchyOptions(), "run", {.memory = kPlenty, .stop = &stop},
                           {.on_batch = [&](const TrainProgress& p) { stop = p.epoch == 2 ? 1 : 0; }, .on_epoch = {}}));
  const RunPaths paths(training.run_folder());
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(paths.State()));
  for (const TableName table : {TableName::kEmbeddings, TableName::kOptimizer, TableName::kRelations}) {
    const bool nodes = table != TableName::kRelations;
    const auto slot = nodes ? manifest.partitions[0].slot : manifest.header.relation_slot;
    const std::filesystem::path path = paths.Table(table, static_cast<int>(slot));
    FlipByte(path, kNpyHeaderBytes + 17);
    EXPECT_ERROR(training.Resume(), kCorrupt, path.filename().string());
    FlipByte(path, kNpyHeaderBytes + 17);
  }
  EXPECT_OK(training.Resume());
}

TEST(Trainer, EventsCountTheirWork) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.learning_rate_schedule = LearningRateSchedule::kLinear;
  training.Train(options);
  const auto events = Events(training.run_folder());
  ASSERT_EQ(events.size(), 2U);
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  for (const nlohmann::json& event : events) {
    EXPECT_EQ(event["edges"], graph->description().train_edges);
    EXPECT_GT(event["loss"], 0);
    EXPECT_GT(event["seconds"], 0);
    EXPECT_GT(event["edges_per_second"], 0);
    EXPECT_GT(event["compute_seconds"], 0);
    EXPECT_GT(event["peak_rss_bytes"], 1 << 20);
    EXPECT_EQ(event["planned_read_bytes"], event["read_bytes"]);
    EXPECT_GT(event["written_bytes"], 0);
    EXPECT_LE(event["written_bytes"], event["planned_written_bytes"]);
    EXPECT_LE(event["compute_seconds"].get<double>() + event["apply_seconds"].get<double>(), event["seconds"]);
  }
  EXPECT_EQ(events[0]["partition_loads"], 1);
  EXPECT_EQ(events[1]["partition_loads"], 0);
  // 4 batches an epoch: the last of the second is at 7/8.
  EXPECT_NEAR(events[1]["learning_rate"], 0.1 / 8, 1e-8);
}

TEST(Trainer, ProgressGoesFromTheFirstWindowToTheLast) {
  const TinyTraining training;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  TrainOptions options = TinyOptions();
  options.accumulate = 3;
  std::uint64_t batches = 0;
  ASSERT_OK(training.Start(options, "run", {.memory = kPlenty},
                           {.on_batch =
                                [&](const TrainProgress& progress) {
                                  seen.emplace_back(progress.epoch, progress.batch);
                                  batches = progress.batches;
                                  EXPECT_EQ(progress.epochs, 2U);
                                  EXPECT_GT(progress.loss, 0);
                                },
                            .on_epoch = {}}));
  EXPECT_EQ(batches, 4U);
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 3}, {1, 4}, {2, 3}, {2, 4}}));
}

}  // namespace
}  // namespace octavo
