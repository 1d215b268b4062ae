#include "run/run_folder.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "run/trained_run.h"
#include "tests/train/some_trainings.h"
#include "tests/train/tiny_training.h"
#include "train/trainer.h"

namespace octavo {
namespace {

TEST(RunFolder, RefusesAFolderWithARun) {
  const TinyTraining training;
  const RunBytes bytes = training.Train(TinyOptions());
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "--overwrite");
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
}

TEST(RunFolder, OverwriteStartsAfresh) {
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

// A refused overwrite leaves the old run unchanged.
TEST(RunFolder, RefusedOverwriteKeepsTheRun) {
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
  // A name that run.json cannot hold was noticed only after the old run had been removed.
  const std::filesystem::path odd_name = training.folder() / "gr\xFFph";
  std::filesystem::copy(training.graph_folder(), odd_name);
  EXPECT_ERROR(StartRun(odd_name, training.run_folder(), TinyOptions(), true, {.memory = kPlenty}, {}), kUsage,
               "not UTF-8");
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
  EXPECT_OK(training.Resume());
}

// A folder of the user's vectors is not a run: they must not be removed unasked.
TEST(RunFolder, KeepsFilesThatAreNotARuns) {
  const TinyTraining training;
  std::filesystem::create_directory(training.run_folder());
  WriteFileBytes(training.run_folder() / "embeddings.npy", "mine");
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "embeddings.npy");
  WriteFileBytes(training.run_folder() / "run.json", "{\"mine\": true}");
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "does not belong to a run");
  EXPECT_EQ(FileBytes(training.run_folder() / "embeddings.npy"), "mine");
  EXPECT_OK(StartRun(training.graph_folder(), training.run_folder(), TinyOptions(), true, {.memory = kPlenty}, {}));
}

// A start that was killed before its first commit left run.json and tables but no STATE.
TEST(RunFolder, StartsAgainAfterAStartThatDidNotGetFar) {
  const TinyTraining training;
  const RunBytes bytes = training.Train(TinyOptions());
  std::filesystem::remove(RunPaths(training.run_folder()).State());
  EXPECT_ERROR(training.Resume(), kUsage, "no run here");
  // With metrics.jsonl there was once a run: its vectors are not treated as leftovers.
  EXPECT_ERROR(training.Start(TinyOptions()), kUsage, "--overwrite");
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
  std::filesystem::remove(RunPaths(training.run_folder()).Metrics());
  ASSERT_OK(training.Start(TinyOptions()));
  EXPECT_TRUE(ReadRunBytes(training.run_folder()) == bytes);
}

TEST(RunFolder, RunInUseIsBusy) {
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

TEST(RunFolder, RefusesPathsThatAreNone) {
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

}  // namespace
}  // namespace octavo
