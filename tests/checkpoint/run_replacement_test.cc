// At every operation of a replacement, either the older run or the new one is intact.
#include "checkpoint/run_replacement.h"

#include <filesystem>
#include <string>

#include "checkpoint/commit_copy.h"
#include "checkpoint/run_lock.h"
#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/checkpoint/small_run.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class RunReplacementTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }

  // An older run at step 3 with a best one and marks, a user's file, and a new run at step 2 that waits.
  void Prepare() const {
    const RunPaths made(folder_ / "made");
    if (!fs::exists(made.folder())) {
      Train(made, 3);
      EXPECT_OK(CopyCommit(made, made.Best(), {.validation = {}, .event = "{\"event\":\"best\"}"}, /*sync=*/false));
      WriteFileBytes(made.KnownRows(), "old");
      WriteFileBytes(made.folder() / "diary", "mine");
      Train(made.Replacement(), 2);
    }
    fs::remove_all(run_.folder());
    fs::copy(made.folder(), run_.folder(), fs::copy_options::recursive);
  }
  static void Train(const RunPaths& paths, std::uint64_t steps) {
    fs::create_directories(paths.folder());
    WriteFileBytes(paths.Configuration(), std::to_string(steps));
    WriteFileBytes(paths.Metrics(), "event\n");
    ASSERT_OK_AND_ASSIGN(const auto tables, CreateRun(paths, SmallShape(), /*sync=*/false));
    for (std::uint64_t step = 1; step <= steps; ++step) ASSERT_OK(TrainStep(*tables, step, SmallShape()));
    ASSERT_OK(tables->Finish());
  }
  // The step of the run in the folder, 0 if none is intact.
  std::uint64_t Standing() const {
    const auto contents = ReadCommitted(run_);
    if (!contents.ok()) return 0;
    for (const std::uint64_t step : {2U, 3U}) {
      if (*contents == ContentsAfter(step, SmallShape())) {
        EXPECT_EQ(FileBytes(run_.Configuration()), std::to_string(step));
        EXPECT_EQ(fs::exists(run_.Best().State()), step == 3);
        EXPECT_EQ(fs::exists(run_.KnownRows()), step == 3);
        return step;
      }
    }
    return 0;
  }

  const TemporaryFolder folder_{FastPlace()};
  const RunPaths run_{folder_ / "run"};
};

TEST_F(RunReplacementTest, TakesThePlace) {
  Prepare();
  ASSERT_OK(ReplaceRun(run_));
  EXPECT_EQ(Standing(), 2U);
  EXPECT_FALSE(fs::exists(run_.Best().folder()));
  EXPECT_FALSE(fs::exists(run_.Replacement().folder()));
  EXPECT_EQ(FileBytes(run_.folder() / "diary"), "mine");
}

// Killed, or stopped by a disk error, at each operation.
TEST_F(RunReplacementTest, WhateverStopsItOneOfTheTwoStands) {
  int older = 0;
  int newer = 0;
  const auto settle = [&](const std::string& failpoint) {
    SCOPED_TRACE(failpoint);
    EXPECT_TRUE(fs::exists(run_.State()) || IsBeingReplaced(run_).value());
    ASSERT_OK(SettleReplacement(run_));
    const std::uint64_t standing = Standing();
    EXPECT_NE(standing, 0U);
    ++(standing == 3 ? older : newer);
    EXPECT_FALSE(fs::exists(run_.Replacement().folder()));
    EXPECT_EQ(FileBytes(run_.folder() / "diary"), "mine");
  };
  for (const std::string place : {"replace.P1", "replace.P2", "replace.P3", "replace.P4"}) {
    Prepare();
    const ChildEnd end = RunChild([&] {
      if (!SetFailpoints(place + "=kill").ok()) return 2;
      return ReplaceRun(run_).ok() ? 0 : 1;
    });
    ASSERT_EQ(end.signal, SIGKILL) << end.code;
    settle(place);
  }
  EXPECT_EQ(older, 1);
  EXPECT_EQ(newer, 3);
  for (const std::string place : {"file.rename", "folder.sync"}) {
    int successes = 0;  // in a row: a best run that cannot be renamed is removed where it is
    for (int n = 1;; ++n) {
      Prepare();
      const std::string failpoint = place + ":" + std::to_string(n) + "=eio";
      ASSERT_OK(SetFailpoints(failpoint));
      const absl::Status status = ReplaceRun(run_);
      ASSERT_OK(SetFailpoints(""));
      successes = status.ok() ? successes + 1 : 0;
      if (successes == 3) {
        EXPECT_GT(n, 6) << place;
        break;
      }
      settle(failpoint);
    }
  }
}

// A kill left a best run without STATE beside an intact older run; no command mended that.
TEST_F(RunReplacementTest, AKillDuringARemovalLeavesNoHalfOfABestRun) {
  bool renamed = false;
  for (int n = 1;; ++n) {
    SCOPED_TRACE(n);
    Prepare();
    fs::remove_all(run_.Replacement().folder());
    const ChildEnd end = RunChild([&] {
      if (!SetFailpoints("file.remove:" + std::to_string(n) + "=kill").ok()) return 2;
      return RemoveRun(run_).ok() ? 0 : 1;
    });
    if (end.code == 0) break;
    ASSERT_EQ(end.signal, SIGKILL) << end.code;
    if (ReadCommitted(run_).ok()) {
      if (fs::exists(run_.Best().folder())) {
        EXPECT_OK(ReadNewestManifest(run_.Best().State()));
      } else {
        renamed = true;
        ASSERT_OK(RemoveUnfinishedCopy(run_, run_.Best()));
        EXPECT_FALSE(fs::exists(run_.Best().Unfinished().folder()));
      }
    } else {
      EXPECT_FALSE(fs::exists(run_.State()));
      EXPECT_TRUE(fs::exists(run_.Beginning()) || !fs::exists(run_.Metrics()));
      EXPECT_FALSE(fs::exists(run_.Best().folder()));
    }
    ASSERT_OK(RemoveRun(run_));
    EXPECT_FALSE(fs::exists(run_.State()) || fs::exists(run_.Best().Unfinished().folder()));
  }
  EXPECT_TRUE(renamed);
}

TEST_F(RunReplacementTest, FilesOfTheUserInABestRunKeepTheirPlace) {
  Prepare();
  WriteFileBytes(run_.Best().folder() / "diary", "mine");
  for (int times = 0; times < 2; ++times) {
    ASSERT_OK(RemoveRun(run_));
    EXPECT_EQ(FileBytes(run_.Best().folder() / "diary"), "mine");
    EXPECT_FALSE(fs::exists(run_.Best().State()));
  }
}

// An unreadable STATE was called that of another run.
TEST_F(RunReplacementTest, AnUnreadableStateIsItsOwnError) {
  Prepare();
  std::string bytes = FileBytes(run_.Best().State());
  for (const std::size_t slot : {std::size_t{0}, bytes.size() / 2}) bytes[slot + 100] ^= 1;
  WriteFileBytes(run_.Best().State(), bytes);
  EXPECT_ERROR(RemoveRun(run_), kCorrupt, "no commit can be read");
  EXPECT_EQ(Standing(), 3U);
  WriteFileBytes(run_.State(), bytes);
  EXPECT_ERROR(RemoveRun(run_), kCorrupt, "no commit can be read");
}

TEST_F(RunReplacementTest, WhatIsLeftOfOneThatWasNotBegunIsRemoved) {
  Prepare();
  ASSERT_OK(SettleReplacement(run_));
  EXPECT_EQ(Standing(), 3U);
  EXPECT_FALSE(fs::exists(run_.Replacement().folder()));
}

TEST_F(RunReplacementTest, ABestRunOfAnotherOrInUseIsRefusedBeforeAnythingIsGone) {
  Prepare();
  {
    ASSERT_OK_AND_ASSIGN(const RunLock lock, RunLock::Take(run_.Best().Lock()));
    EXPECT_ERROR(ReplaceRun(run_), kBusy, "in use");
    EXPECT_ERROR(RemoveRun(run_), kBusy, "in use");
  }
  EXPECT_EQ(Standing(), 3U);
  fs::remove_all(run_.Best().folder());
  Train(run_.Best(), 1);
  EXPECT_ERROR(ReplaceRun(run_), kUsage, "another run");
  EXPECT_ERROR(RemoveRun(run_), kUsage, "another run");
  EXPECT_EQ(Standing(), 3U);
}

}  // namespace
}  // namespace octavo
