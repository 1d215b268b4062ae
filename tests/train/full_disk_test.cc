// Trainings that find the disk full, in turn at every operation that needs space.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "run/trained_run.h"
#include "tests/support/small_disk.h"
#include "tests/train/tiny_training.h"
#include "train/trainer.h"

namespace octavo {
namespace {

// More operations than one start has
constexpr int kMostOperations = 60;

std::vector<std::string> NamesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

class FullDiskTest : public ::testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }

  // Arms the `n`-th pass through the failpoint of this test.
  void FillUpAt(int n) const {
    ASSERT_OK(SetFailpoints(std::string(GetParam()) + ":" + std::to_string(n) + "=enospc"));
  }
};

INSTANTIATE_TEST_SUITE_P(Operations, FullDiskTest, ::testing::Values("file.allocate", "file.write", "file.open"));

// The gradients were created last, and found no room only after the run existed.
TEST_P(FullDiskTest, AStartLeavesNoRunOrOneToGoOnWith) {
  const TinyTraining training;
  const RunBytes unbroken = training.Train(TinyOptions(), "unbroken");
  int failures = 0;
  for (int n = 1; n < kMostOperations; ++n) {
    FillUpAt(n);
    const auto outcome = training.Start(TinyOptions());
    ASSERT_OK(SetFailpoints(""));
    if (outcome.ok()) break;
    ++failures;
    EXPECT_ERROR(outcome, kRuntime, "make room there");
    if (std::filesystem::exists(RunPaths(training.run_folder()).State())) {
      EXPECT_NE(std::string(GetParam()), "file.allocate") << "all space is reserved before the first commit";
      EXPECT_ERROR(outcome, kRuntime, "is committed; then continue with: octavo resume --run");
      ASSERT_OK(training.Resume()) << n;
    } else {
      for (const std::string& name : NamesIn(training.run_folder())) EXPECT_TRUE(name == "LOCK" || name == "run.json");
      ASSERT_OK(training.Start(TinyOptions())) << n;
    }
    EXPECT_TRUE(ReadRunBytes(training.run_folder()) == unbroken) << n;
    std::filesystem::remove_all(training.run_folder());
  }
  EXPECT_GT(failures, 5);
}

// A resume that could not create all second files of a finished run left those that it had created.
TEST_P(FullDiskTest, AResumeThatCannotBeginLeavesTheRunAsItWas) {
  const TinyTraining training;
  TrainOptions longer = TinyOptions();
  longer.epochs = 3;
  const RunBytes unbroken = training.Train(longer, "unbroken");
  training.Train(TinyOptions(), "finished");
  const std::vector<std::string> names = NamesIn(training.run_folder("finished"));
  int failures = 0;
  int successes = 0;  // in a row
  for (int n = 1; n < kMostOperations; ++n) {
    std::filesystem::copy(training.run_folder("finished"), training.run_folder());
    FillUpAt(n);
    const auto outcome = training.Resume(3);
    ASSERT_OK(SetFailpoints(""));
    if (!outcome.ok()) {
      ++failures;
      EXPECT_ERROR(outcome, kRuntime, "make room there");
      const bool begun = MessageOf(outcome.status()).find("is committed; then continue with") != std::string_view::npos;
      EXPECT_TRUE(begun || NamesIn(training.run_folder()) == names) << n << ": " << outcome.status().ToString();
      EXPECT_OK(OpenTrainedRun(training.run_folder()));
      ASSERT_OK(training.Resume(3)) << n;
    }
    EXPECT_TRUE(ReadRunBytes(training.run_folder()) == unbroken) << n;
    std::filesystem::remove_all(training.run_folder());
    // What is done at best effort fails without an error.
    successes = outcome.ok() ? successes + 1 : 0;
    if (successes == 3) break;
  }
  EXPECT_GT(failures, 4);
}

// The older run was removed first, and then the new one found no room.
TEST(FullDisk, AnOlderRunStaysWhereTheNewOneHasNoRoom) {
  const TinyTraining training;
  const SmallDisk disk(training.folder() / "disk", std::uint64_t{1} << 20);
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs requires root";
  const std::filesystem::path run = disk.folder() / "run";
  ASSERT_OK(StartRun(training.graph_folder(), run, TinyOptions(), false, {.memory = kPlenty}, {}));
  const RunBytes older = ReadRunBytes(run);
  TrainOptions larger = TinyOptions();
  larger.dim = 4000;
  EXPECT_ERROR(StartRun(training.graph_folder(), run, larger, true, {.memory = kPlenty}, {}), kRuntime, "are free, ");
  EXPECT_TRUE(ReadRunBytes(run) == older);
  EXPECT_OK(StartRun(training.graph_folder(), run, TinyOptions(), true, {.memory = kPlenty}, {}));
}

// The space of the older run counted as free, though both exist until the first commit of the new one.
TEST(FullDisk, AWarmStartNeedsRoomBesideTheOlderRun) {
  const TinyTraining training;
  // A run with this dim has 480 KB of embeddings, and needs twice that during the training; the gradients of one edge
  // are little beside it.
  TrainOptions large = TinyOptions();
  large.dim = 4000;
  large.batch = large.chunk = large.negatives = 1;
  training.Train(large, "source");
  const SmallDisk disk(training.folder() / "disk", std::uint64_t{5} << 18);
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs requires root";
  const std::filesystem::path run = disk.folder() / "run";
  const InitialSource init = {.source = training.run_folder("source")};
  ASSERT_OK(StartRun(training.graph_folder(), run, large, false, {.memory = kPlenty}, {}));
  const RunBytes older = ReadRunBytes(run);
  const auto start = [&](const InitialSource& source) {
    return StartRun(training.graph_folder(), run, large, true, {.memory = kPlenty}, {}, source);
  };
  EXPECT_ERROR(start(init), kRuntime, "needed in addition to the older run");
  EXPECT_ERROR(CheckStart(training.graph_folder(), run, large, true, {.memory = kPlenty}, init), kRuntime,
               "needed in addition to the older run");
  EXPECT_TRUE(ReadRunBytes(run) == older);
  EXPECT_OK(start({}));
}

}  // namespace
}  // namespace octavo
