#include "train/partition_mover.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/file_bytes.h"
#include "tests/support/rank_threads.h"
#include "tests/support/temporary_folder.h"
#include "tests/train/small_team.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class PartitionMoverTest : public ::testing::Test {
 protected:
  using Work = std::function<absl::Status(Ranks&, RunTables&, PartitionMover&)>;

  fs::path FolderOf(int rank) const { return folder_ / ("rank" + std::to_string(rank)); }

  // Two ranks with a folder each: rank 0 has partitions 0 and 1.
  std::vector<absl::Status> Run(const Work& work, const RunShape& shape = TeamShape()) {
    return RunRanks(2, [&](Ranks& ranks) -> absl::Status {
      const fs::path folder = FolderOf(ranks.rank());
      fs::create_directories(folder);
      Team team(ranks, 2, {0, 1});
      team.SetFirstPlan(TeamPlan(), 4);
      ASSIGN_OR_RETURN(const std::unique_ptr<RunTables> tables, MakeTeamRun(folder, shape, team));
      HoldFirst(*tables, team);
      PartitionMover mover(ranks, *tables);
      return work(ranks, *tables, mover);
    });
  }

  const TemporaryFolder folder_;
};

TEST_F(PartitionMoverTest, PartitionsChangeTheirRankBothWaysAtOnce) {
  for (const absl::Status& status : Run([](Ranks&ranks, RunTables&tables, PartitionMover&mover) -> absl::Status {
         const bool first = ranks.first();
         // One with rows that no commit has, and one as it was committed.
         const PartitionId changed = first ? P(0) : P(2);
         RETURN_IF_ERROR(tables.LoadPartition(changed));
         SetPartition(tables, changed, first ? 5 : 6);
         RETURN_IF_ERROR(tables.EvictPartition(changed));
         for (const std::uint32_t p : {first ? 0U : 2U, first ? 1U : 3U}) {
           EXPECT_TRUE(tables.Holds(P(p)));
           mover.Send(P(p), first ? 1 : 0);
           EXPECT_FALSE(tables.Holds(P(p)));
         }
         // In another order than they were sent in.
         for (const std::uint32_t p : {first ? 3U : 1U, first ? 2U : 0U}) {
           RETURN_IF_ERROR(mover.Await(P(p)));
           EXPECT_TRUE(tables.Holds(P(p)));
           EXPECT_EQ(WrongRows(tables, P(p), p == 2 ? 6 : p == 0 ? 5 : -1), "");
         }
         RETURN_IF_ERROR(mover.Await(first ? P(2) : P(0)));  // is here
         RETURN_IF_ERROR(mover.Drain());
         RETURN_IF_ERROR(ranks.Meet());
         const MovedCounts counts = mover.TakeCounts();
         const std::uint64_t bytes =
             tables.PartitionBytes(first ? P(0) : P(2)) + tables.PartitionBytes(first ? P(1) : P(3));
         const std::uint64_t others =
             tables.PartitionBytes(first ? P(2) : P(0)) + tables.PartitionBytes(first ? P(3) : P(1));
         EXPECT_EQ(counts.bytes_sent, bytes);
         EXPECT_EQ(counts.bytes_received, others);
         EXPECT_EQ(mover.TakeCounts().bytes_sent, 0U);
         return absl::OkStatus();
       })) {
    EXPECT_OK(status);
  }
}

// There and back many times, each time with new rows: what arrives is never older than what was sent.
TEST_F(PartitionMoverTest, TheNewestRowsArriveEachTime) {
  for (const absl::Status& status : Run([](Ranks&ranks, RunTables&tables, PartitionMover&mover) -> absl::Status {
         for (int turn = 0; turn < 12; ++turn) {
           if (ranks.rank() != turn % 2) continue;
           RETURN_IF_ERROR(mover.Await(P(0)));
           EXPECT_EQ(WrongRows(tables, P(0), turn == 0 ? -1.0F : static_cast<float>(turn - 1)), "");
           RETURN_IF_ERROR(tables.LoadPartition(P(0)));
           SetPartition(tables, P(0), static_cast<float>(turn));
           RETURN_IF_ERROR(tables.EvictPartition(P(0)));
           mover.Send(P(0), 1 - ranks.rank());
         }
         RETURN_IF_ERROR(mover.Drain());
         RETURN_IF_ERROR(ranks.Meet());
         mover.TakeOverArrived();
         EXPECT_EQ(tables.Holds(P(0)), ranks.first());
         return tables.Commit({.step = 1});
       })) {
    EXPECT_OK(status);
  }
}

// Partitions of many pieces, three of which are under way at a time; then a commit of what has arrived.
TEST_F(PartitionMoverTest, LargePartitionsMoveInPieces) {
  const RunShape shape = TeamShape(32768, 150);  // 19 MB each
  for (const absl::Status& status : Run(
           [](Ranks&ranks, RunTables&tables, PartitionMover&mover) -> absl::Status {
             if (ranks.first()) {
               mover.Send(P(0), 1);
               mover.Send(P(1), 1);
             }
             RETURN_IF_ERROR(mover.Drain());
             RETURN_IF_ERROR(ranks.Meet());
             mover.TakeOverArrived();
             EXPECT_EQ(tables.Holds(P(0)), !ranks.first());
             EXPECT_EQ(tables.Holds(P(1)), !ranks.first());
             if (ranks.first()) {
               EXPECT_EQ(mover.TakeCounts().bytes_sent, 2 * tables.PartitionBytes(P(0)));
             } else {
               EXPECT_EQ(WrongRows(tables, P(0), -1), "");
               EXPECT_EQ(WrongRows(tables, P(1), -1), "");
             }
             return tables.Commit({.step = 1});
           },
           shape)) {
    EXPECT_OK(status);
  }
}

// Drain is no promise of what others do: it returns when this rank's rows are at their ranks.
TEST_F(PartitionMoverTest, DrainWaitsUntilAllIsWrittenAtTheOtherRank) {
  for (const absl::Status& status : Run([&](Ranks&ranks, RunTables&tables, PartitionMover&mover) -> absl::Status {
         if (ranks.first()) {
           RETURN_IF_ERROR(tables.LoadPartition(P(0)));
           SetPartition(tables, P(0), 9);
           RETURN_IF_ERROR(tables.EvictPartition(P(0)));
           mover.Send(P(0), 1);
           RETURN_IF_ERROR(mover.Drain());
           const std::string rows = FileBytes(RunPaths(FolderOf(1)).Table(TableName::kEmbeddings, 1));
           float value = 0;
           std::memcpy(&value, rows.data() + kNpyHeaderBytes + 1023 * 16, sizeof(value));
           EXPECT_EQ(value, 9.0F) << "the last row of the partition";
         }
         return ranks.Meet();
       })) {
    EXPECT_OK(status);
  }
}

TEST_F(PartitionMoverTest, RowsThatChangedOnTheirWayAreRefused) {
  for (const TableName table : {TableName::kEmbeddings, TableName::kOptimizer}) {
    const auto results = Run([&](Ranks& ranks, RunTables& tables, PartitionMover& mover) -> absl::Status {
      if (!ranks.first()) return mover.Await(P(0));
      RETURN_IF_ERROR(tables.LoadPartition(P(0)));
      SetPartition(tables, P(0), 2);
      RETURN_IF_ERROR(tables.EvictPartition(P(0)));
      FlipByte(RunPaths(FolderOf(0)).Table(table, 1), kNpyHeaderBytes + 40);
      mover.Send(P(0), 1);
      return mover.Drain();
    });
    EXPECT_ERROR(results[1], kRuntime, "partition 0 arrived from rank 0 on host0 with a wrong checksum");
    EXPECT_FALSE(results[0].ok()) << "it is not told that the rows have arrived";
    fs::remove_all(FolderOf(0));
    fs::remove_all(FolderOf(1));
  }
}

// The thread that moves has an error while the one that trains waits for the other rank, which waits for the rows.
TEST_F(PartitionMoverTest, AnErrorOfMovingEndsWaitingForOtherRanks) {
  for (const std::string place : {"ranks.receive", "ranks.send"}) {
    ASSERT_OK(SetFailpoints(place + "=eio"));
    const auto results = Run([&](Ranks& ranks, RunTables&, PartitionMover& mover) -> absl::Status {
      if (place == "ranks.receive") {
        if (!ranks.first()) return ranks.Meet();
        mover.Send(P(0), 1);
        return mover.Drain();
      }
      if (!ranks.first()) return mover.Await(P(0));
      mover.Send(P(0), 1);
      return ranks.Meet();
    });
    ASSERT_OK(SetFailpoints(""));
    EXPECT_ERROR(results[place == "ranks.receive" ? 1 : 0], kRuntime, "failpoint " + place);
    EXPECT_FALSE(results[place == "ranks.receive" ? 0 : 1].ok());
    fs::remove_all(FolderOf(0));
    fs::remove_all(FolderOf(1));
  }
}

// Whoever waits for a rank that is gone gets an error, as does whoever sends to it.
TEST_F(PartitionMoverTest, WaitingEndsWithTheJob) {
  const auto results = Run([](Ranks& ranks, RunTables&, PartitionMover& mover) -> absl::Status {
    if (ranks.first()) return RuntimeError("a full disk");
    mover.Send(P(2), 0);
    const absl::Status awaited = mover.Await(P(0));
    EXPECT_FALSE(awaited.ok());
    EXPECT_FALSE(mover.Drain().ok());
    return awaited;
  });
  EXPECT_FALSE(results[1].ok());
}

}  // namespace
}  // namespace octavo
