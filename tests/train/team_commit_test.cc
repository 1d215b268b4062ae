// Commits of several ranks. Each meeting of a commit is needed: a rank that is late, or fails, at the worst place loses
// nothing. (Each test was seen to fail with its meeting taken out of checkpoint/run_tables.cc.)
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/file_events.h"
#include "tests/support/rank_threads.h"
#include "tests/support/temporary_folder.h"
#include "tests/train/small_team.h"
#include "train/partition_mover.h"
#include "train/team_restart.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Long enough for the other ranks to come to where they must wait.
void Dawdle() { std::this_thread::sleep_for(std::chrono::milliseconds(150)); }

class TeamCommitTest : public ::testing::Test {
 protected:
  // What a test does as one of two ranks, at generation 1 and with its partitions.
  struct Rank {
    Team& team;
    WatchedTeam& peers;
    RunTables& tables;
    PartitionMover& mover;

    bool first() const { return team.first(); }
    absl::Status Set(PartitionId partition, float value) const {
      RETURN_IF_ERROR(tables.LoadPartition(partition));
      SetPartition(tables, partition, value);
      return tables.EvictPartition(partition);
    }
    // As TeamTables::Settle.
    absl::Status Settle() const {
      RETURN_IF_ERROR(mover.Drain());
      RETURN_IF_ERROR(team.Meet());
      mover.TakeOverArrived();
      return absl::OkStatus();
    }
    absl::Status Commit(std::uint64_t step, const Seal& seal = {}) const {
      RETURN_IF_ERROR(Settle());
      return tables.Commit(Progress{.step = step}, seal);
    }
  };
  using Work = std::function<absl::Status(const Rank&)>;

  fs::path FolderOf(int rank) const { return folder_ / ("rank" + std::to_string(shared_ ? 0 : rank)); }
  std::vector<std::uint32_t> Numbers() const {
    return shared_ ? std::vector<std::uint32_t>{0, 0} : std::vector<std::uint32_t>{0, 1};
  }

  std::vector<absl::Status> Run(const Work& work, bool resume = false) {
    return RunRanks(2, [&](Ranks& ranks) -> absl::Status {
      const fs::path folder = FolderOf(ranks.rank());
      fs::create_directories(folder);
      Team team(ranks, 2, Numbers());
      team.SetFirstPlan(TeamPlan(), 4);
      WatchedTeam peers(team);
      std::unique_ptr<RunTables> tables;
      if (resume) {
        RETURN_IF_ERROR(AgreeOnCommit(ranks, RunPaths(folder), team.WritesFolder()));
        ASSIGN_OR_RETURN(tables, RunTables::Open(RunPaths(folder), TeamShape(), /*sync=*/false, &peers));
      } else {
        ASSIGN_OR_RETURN(tables, MakeTeamRun(folder, TeamShape(), peers));
      }
      HoldFirst(*tables, team);
      PartitionMover mover(ranks, *tables);
      return work({team, peers, *tables, mover});
    });
  }
  void RunOk(const Work& work, bool resume = false) {
    for (const absl::Status& status : Run(work, resume)) EXPECT_OK(status);
  }
  std::uint64_t Newest(int rank) const {
    const auto manifest = ReadNewestManifest(RunPaths(FolderOf(rank)).State());
    return manifest.ok() ? manifest->header.generation : 0;
  }

  const TemporaryFolder folder_;
  bool shared_ = false;
};

TEST_F(TeamCommitTest, KeepsWhatEachRankHasTrained) {
  for (const bool shared : {false, true}) {
    shared_ = shared;
    RunOk([](const Rank& rank) -> absl::Status {
      for (std::uint64_t step = 1; step <= 3; ++step) {
        const auto value = static_cast<float>(step);
        RETURN_IF_ERROR(rank.Set(rank.first() ? P(0) : P(2), value));
        if (step == 2) RETURN_IF_ERROR(rank.Set(rank.first() ? P(1) : P(3), value));
        RETURN_IF_ERROR(rank.Commit(step));
        EXPECT_EQ(rank.tables.generation(), step + 1);
      }
      return absl::OkStatus();
    });
    RunOk(
        [](const Rank& rank) -> absl::Status {
          EXPECT_EQ(rank.tables.progress().step, 3U);
          EXPECT_EQ(WrongRows(rank.tables, rank.first() ? P(0) : P(2), 3), "");
          EXPECT_EQ(WrongRows(rank.tables, rank.first() ? P(1) : P(3), 2), "");
          return absl::OkStatus();
        },
        /*resume=*/true);
    fs::remove_all(FolderOf(0));
    fs::remove_all(FolderOf(1));
  }
}

// The rows of rank 1 are not on its disk: no manifest may name the generation.
TEST_F(TeamCommitTest, NoManifestIsWrittenBeforeAllRowsAre) {
  const auto results = Run([&](const Rank& rank) -> absl::Status {
    RETURN_IF_ERROR(rank.Set(rank.first() ? P(0) : P(2), 1));
    if (!rank.first()) {
      rank.peers.before_gather = [&]() -> absl::Status {
        Dawdle();
        EXPECT_EQ(Newest(0), 1U);
        return RuntimeError("a full disk");
      };
    }
    return rank.Commit(1);
  });
  EXPECT_ERROR(results[1], kRuntime, "a full disk");
  EXPECT_FALSE(results[0].ok());
  EXPECT_EQ(Newest(0), 1U);
  EXPECT_EQ(Newest(1), 1U);
}

// Rank 1 fails before its manifest, so generation 2 stands. Rank 0 has its manifest of generation 3 already, in which a
// partition has left it: its rows must still be there.
TEST_F(TeamCommitTest, WhatHasLeftIsFreedAfterAllManifestsAreWritten) {
  const auto results = Run([&](const Rank& rank) -> absl::Status {
    if (rank.first()) RETURN_IF_ERROR(rank.Set(P(0), 1));
    RETURN_IF_ERROR(rank.Commit(1));
    if (rank.first()) {
      RETURN_IF_ERROR(rank.Set(P(0), 2));
      rank.mover.Send(P(0), 1);
    }
    return rank.Commit(2, [&](Progress&) -> absl::Status {
      if (rank.first()) return absl::OkStatus();
      Dawdle();
      return RuntimeError("a full disk");
    });
  });
  EXPECT_ERROR(results[1], kRuntime, "a full disk");
  EXPECT_FALSE(results[0].ok());
  EXPECT_EQ(Newest(0), 3U);
  EXPECT_EQ(Newest(1), 2U);
  RunOk(
      [](const Rank& rank) -> absl::Status {
        EXPECT_EQ(rank.tables.generation(), 2U);
        if (rank.first()) {
          EXPECT_EQ(WrongRows(rank.tables, P(0), 1), "");
        }
        return absl::OkStatus();
      },
      /*resume=*/true);
}

// The same where rank 0 goes on to overwrite what generation 2 names.
TEST_F(TeamCommitTest, NoSlotIsOverwrittenBeforeAllManifestsAreWritten) {
  const auto results = Run([&](const Rank& rank) -> absl::Status {
    const auto seal = [&](Progress&) -> absl::Status {
      if (rank.first()) return absl::OkStatus();
      Dawdle();
      return RuntimeError("a full disk");
    };
    if (rank.first()) RETURN_IF_ERROR(rank.Set(P(0), 1));
    RETURN_IF_ERROR(rank.Commit(1));
    if (rank.first()) RETURN_IF_ERROR(rank.Set(P(0), 2));
    RETURN_IF_ERROR(rank.Commit(2, seal));
    return rank.Set(P(0), 3);  // rank 0: it must not come here
  });
  EXPECT_FALSE(results[0].ok());
  RunOk(
      [](const Rank& rank) -> absl::Status {
        EXPECT_EQ(rank.tables.generation(), 2U);
        if (rank.first()) {
          EXPECT_EQ(WrongRows(rank.tables, P(0), 1), "");
        }
        return absl::OkStatus();
      },
      /*resume=*/true);
}

// Rank 1 has met the others after its manifest, and is slow to note which slots are free now. Rows that rank 0 sends
// meanwhile would go to the slot that the new generation names.
TEST_F(TeamCommitTest, RowsMoveOnlyAfterAllRanksFollowTheCommit) {
  for (const bool shared : {false, true}) {
    SCOPED_TRACE(shared);
    shared_ = shared;
    RunOk([](const Rank& rank) -> absl::Status {
      if (rank.first()) {
        RETURN_IF_ERROR(rank.Set(P(0), 1));
      } else {
        rank.peers.after_meeting = [](int meeting) {
          if (meeting == 1) Dawdle();
        };
      }
      RETURN_IF_ERROR(rank.Commit(1));
      if (rank.first()) {
        RETURN_IF_ERROR(rank.Set(P(0), 2));
        rank.mover.Send(P(0), 1);
      } else {
        RETURN_IF_ERROR(rank.mover.Await(P(0)));
        EXPECT_EQ(WrongRows(rank.tables, P(0), 2), "");
      }
      return rank.Settle();
    });
    // What was not committed is forgotten.
    RunOk(
        [](const Rank& rank) -> absl::Status {
          if (rank.first()) {
            EXPECT_EQ(WrongRows(rank.tables, P(0), 1), "");
          }
          return absl::OkStatus();
        },
        /*resume=*/true);
    fs::remove_all(FolderOf(0));
    fs::remove_all(FolderOf(1));
  }
}

// Two lanes of one round have their relations and records in one commit.
TEST_F(TeamCommitTest, AnOpenRoundHasTheLanesOfAllRanks) {
  RunOk([](const Rank& rank) -> absl::Status {
    const std::uint32_t own = rank.first() ? 0 : 1;
    std::vector<LaneRecord> lanes(2);
    lanes[own] = {.batches = 10 + own, .edges = 20 + own, .loss = 0.5 + own, .penalty = 0.25};
    lanes[1 - own] = {.batches = 999};  // not of this rank
    const std::size_t half = rank.tables.lane_relations().values().size() / 2;
    std::ranges::fill(rank.tables.lane_relations().values(), -1.0F);
    std::ranges::fill(rank.tables.lane_relations().values().subspan(own * half, half), 5.0F + static_cast<float>(own));
    rank.tables.SetRound({.open = 1, .round = 2}, lanes);
    return rank.Commit(1);
  });
  for (const int rank : {0, 1}) {
    ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(RunPaths(FolderOf(rank)).State()));
    EXPECT_EQ(
        manifest.round,
        (LanesHeader{.lanes = 2, .folders = 2, .open = 1, .folder = static_cast<std::uint32_t>(rank), .round = 2}));
    ASSERT_EQ(manifest.lanes.size(), 2U);
    for (const std::uint32_t lane : {0U, 1U}) {
      EXPECT_EQ(manifest.lanes[lane].batches, 10U + lane);
      EXPECT_EQ(manifest.lanes[lane].edges, 20U + lane);
      EXPECT_EQ(manifest.lanes[lane].loss, 0.5 + lane);
    }
    for (const std::uint32_t p : {0U, 1U, 2U, 3U}) EXPECT_EQ(manifest.partitions[p].folder, p / 2);
  }
  RunOk(
      [](const Rank& rank) -> absl::Status {
        const std::span<const float> values = rank.tables.lane_relations().values();
        EXPECT_EQ(values.front(), 5.0F);
        EXPECT_EQ(values.back(), 6.0F);
        return absl::OkStatus();
      },
      /*resume=*/true);
}

// Counts files that are made, and is slow at it.
class SlowDisk : public FileListener {
 public:
  SlowDisk() { SetFileListener(this); }
  ~SlowDisk() override { SetFileListener(nullptr); }
  void OnFileEvent(const FileEvent& event) override {
    if (event.kind != FileEvent::Kind::kCreate) return;
    {
      const std::lock_guard lock(mutex_);
      ++made_[event.path.filename().string()];
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  int Made(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return made_[name];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> made_;
};

// A finished run has no second files. Of several ranks with one folder, one makes them: two that made the same file
// would each write to its own.
TEST_F(TeamCommitTest, RanksOfOneFolderMakeItsSecondFilesOnce) {
  shared_ = true;
  for (int round = 0; round < 3; ++round) {
    const bool resume = round > 0;
    SlowDisk disk;
    RunOk(
        [&](const Rank& rank) -> absl::Status {
          const PartitionId own = rank.first() ? P(0) : P(2);
          if (resume) {
            EXPECT_EQ(WrongRows(rank.tables, own, static_cast<float>(round)), "");
          }
          RETURN_IF_ERROR(rank.Set(own, static_cast<float>(round + 1)));
          RETURN_IF_ERROR(rank.Commit(static_cast<std::uint64_t>(round)));
          return rank.tables.Finish();
        },
        resume);
    for (const TableName table : {TableName::kEmbeddings, TableName::kOptimizer}) {
      const fs::path second = RunPaths(FolderOf(0)).Table(table, 1);
      EXPECT_EQ(disk.Made(second.filename().string()), 1);
      EXPECT_FALSE(fs::exists(second));
    }
  }
}

// The disk space of a partition that only passed through, or has left, is given back.
TEST_F(TeamCommitTest, APartitionThatHasLeftTakesNoSpace) {
  const auto stored = [&](int rank) {
    std::uint64_t blocks = 0;
    for (const int slot : {0, 1}) {
      struct stat info {};
      EXPECT_EQ(::stat(RunPaths(FolderOf(rank)).Table(TableName::kEmbeddings, slot).c_str(), &info), 0);
      blocks += static_cast<std::uint64_t>(info.st_blocks);
    }
    return blocks * 512;
  };
  RunOk([&](const Rank& rank) -> absl::Status {
    // What rank 1 has after its commits, while rank 0 does not send anything.
    std::vector<std::uint64_t> bytes;
    const auto measure = [&]() -> absl::Status {
      if (!rank.first()) bytes.push_back(stored(1));
      return rank.team.Meet();
    };
    RETURN_IF_ERROR(rank.Commit(1));
    RETURN_IF_ERROR(measure());
    // There and back between two commits.
    if (rank.first()) rank.mover.Send(P(0), 1);
    RETURN_IF_ERROR(rank.Settle());
    if (!rank.first()) rank.mover.Send(P(0), 0);
    RETURN_IF_ERROR(rank.Commit(2));
    RETURN_IF_ERROR(measure());
    // And with a commit.
    if (rank.first()) rank.mover.Send(P(0), 1);
    RETURN_IF_ERROR(rank.Commit(3));
    RETURN_IF_ERROR(measure());
    if (!rank.first()) rank.mover.Send(P(0), 0);
    RETURN_IF_ERROR(rank.Commit(4));
    RETURN_IF_ERROR(measure());
    if (rank.first()) {
      EXPECT_EQ(WrongRows(rank.tables, P(0), -1), "");
      return absl::OkStatus();
    }
    EXPECT_EQ(bytes[1], bytes[0]);
    EXPECT_GT(bytes[2], bytes[0]);
    EXPECT_EQ(bytes[3], bytes[0]);
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace octavo
