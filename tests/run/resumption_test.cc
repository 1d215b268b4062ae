#include "run/resumption.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "run/trained_run.h"
#include "tests/train/some_trainings.h"
#include "tests/train/tiny_training.h"
#include "train/trainer.h"

namespace octavo {
namespace {

TEST(Resumption, CommitsWithinAnEpochChangeNoBit) {
  const TinyTraining training;
  TrainOptions options = TouchyOptions();
  const RunBytes plain = training.Train(options, "plain");
  options.checkpoint_minutes = 1e-9;  // after every window
  EXPECT_TRUE(training.Train(options, "often") == plain);
  ASSERT_OK_AND_ASSIGN(const TrainedRun run, OpenTrainedRun(training.run_folder("often")));
  EXPECT_GT(run.generation, 12U);
  EXPECT_EQ(Events(training.run_folder("often")).size(), 4U);
}

// Not the same bits, but every edge once, and nearly the same loss.
TEST(Resumption, AsyncLearnsAndResumes) {
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
  // Threads that meet differently give another loss each time: 0.74 to 0.85 in
  // 300 trainings, where sync ends at 0.77. Both begin at 2.17.
  const auto sync_events = Events(training.run_folder("sync"));
  const double learned = sync_events.front()["loss"].get<double>() - sync_events.back()["loss"].get<double>();
  EXPECT_LT(events.back()["loss"].get<double>(), sync_events.back()["loss"].get<double>() + (learned / 6))
      << "sync learned " << learned;
  EXPECT_TRUE(AllFinite(training.run_folder()));
}

// Stops at every window of the training, and resumes.
TEST(Resumption, StoppedAndResumedIsUnbroken) {
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
        ASSERT_EQ(windows, at) << "no further batch after the signal";
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

TEST(Resumption, StoppedAgainAndAgainIsUnbroken) {
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

// A signal that comes before the first batch: only generation 1 is committed.
TEST(Resumption, StoppedBeforeItBegan) {
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

// A commit that fails in between: the last one remains, and a resume gives the bits of an uninterrupted run.
TEST(Resumption, FailedCommitLosesNothing) {
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

TEST(Resumption, ResumeWithMoreEpochs) {
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

// Resuming a finished run changes nothing.
TEST(Resumption, ResumeOfAFinishedRun) {
  const TinyTraining training;
  const RunBytes bytes = training.Train(TinyOptions());
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome, training.Resume());
    EXPECT_TRUE(outcome.finished);
    EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
    EXPECT_FALSE(std::filesystem::exists(RunPaths(training.run_folder()).Table(TableName::kEmbeddings, 1)));
  }
}

// A run stopped within epoch 3 cannot end after epoch 2: that state no longer exists.
TEST(Resumption, ResumeToFewerEpochsThanBegun) {
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
TEST(Resumption, RefusedResumeChangesNothing) {
  const TinyTraining training;
  training.Train(TinyOptions());
  const RunPaths paths(training.run_folder());
  const std::string before = FileBytes(paths.Configuration());
  EXPECT_ERROR(training.Resume(1), kUsage, "");
  EXPECT_ERROR(training.Resume(9, "run", {.memory = 1 << 20}), kUsage, "--memory");
  EXPECT_EQ(FileBytes(paths.Configuration()), before);
}

TEST(Resumption, RefusesAGraphWithoutTrainingEdgesOrAnotherGraph) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 2;
  training.Train(options);
  std::filesystem::remove_all(training.graph_folder());
  EXPECT_ERROR(training.Resume(3), kUsage, training.graph_folder().string());
  MakeTinyGraph({.seed = 8}, training.graph_folder());
  EXPECT_ERROR(training.Resume(3), kCorrupt, "fingerprint");
}

TEST(Resumption, DamagedRunIsRefused) {
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

}  // namespace
}  // namespace octavo
