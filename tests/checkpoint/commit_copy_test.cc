#include "checkpoint/commit_copy.h"

#include <filesystem>
#include <memory>
#include <string>

#include "checkpoint/run_lock.h"
#include "format/sealed_lines.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/checkpoint/small_run.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr CopyAddition kAddition = {.validation = {.best_mrr = 0.5, .best_epoch = 3}, .event = R"({"event":"next"})"};

class CommitCopyTest : public ::testing::Test {
 protected:
  CommitCopyTest() {
    std::filesystem::create_directory(run_.folder());
    WriteFileBytes(run_.Configuration(), "{}");
    WriteFileBytes(run_.Metrics(), "an event\nand one that is not committed\n");
    absl::StatusOr<std::unique_ptr<RunTables>> tables = CreateRun(run_, shape_);
    EXPECT_OK(tables);
    tables_ = *std::move(tables);
  }
  // Ends at a commit that names both files of each table.
  void Train(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = first; step <= last; ++step) EXPECT_OK(TrainStep(*tables_, step, shape_));
  }
  void CommitEvents(std::uint64_t bytes) {
    Progress progress = tables_->progress();
    progress.metrics_bytes = bytes;
    EXPECT_OK(tables_->Commit(progress));
  }

  const TemporaryFolder folder_;
  const RunShape shape_ = SmallShape();
  const RunPaths run_{folder_ / "run"};
  const RunPaths copy_ = run_.Best();
  std::unique_ptr<RunTables> tables_;
};

TEST_F(CommitCopyTest, HasWhatIsCommittedAndNothingElse) {
  Train(1, 3);
  CommitEvents(9);
  SetRow(*tables_, 0, 77);  // not committed
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  ASSERT_OK_AND_ASSIGN(const Contents copied, ReadCommitted(copy_));
  EXPECT_TRUE(copied == ContentsAfter(3, shape_));
  EXPECT_EQ(FileBytes(copy_.Metrics()), "an event\n" + SealLine(kAddition.event, 9));
  EXPECT_EQ(FileBytes(copy_.Configuration()), "{}");
  for (const TableName table : kTables) EXPECT_FALSE(std::filesystem::exists(copy_.Table(table, 1)));
  EXPECT_FALSE(std::filesystem::exists(copy_.Unfinished().folder()));
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(copy_.State()));
  EXPECT_EQ(manifest.header.generation, tables_->generation());
  EXPECT_EQ(manifest.header.validation.best_epoch, 3U);
  EXPECT_EQ(manifest.header.progress.metrics_bytes, 9 + SealLine(kAddition.event, 9).size());
}

TEST_F(CommitCopyTest, CanBeTrainedOn) {
  Train(1, 2);
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  ASSERT_OK_AND_ASSIGN(tables_, RunTables::Open(copy_, shape_, true));
  Train(3, 4);
  ASSERT_OK_AND_ASSIGN(const Contents contents, ReadCommitted(copy_));
  EXPECT_TRUE(contents == ContentsAfter(4, shape_));
}

TEST_F(CommitCopyTest, TakesThePlaceOfTheOneBefore) {
  Train(1, 1);
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  Train(2, 3);
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  ASSERT_OK_AND_ASSIGN(const Contents copied, ReadCommitted(copy_));
  EXPECT_TRUE(copied == ContentsAfter(3, shape_));
  EXPECT_FALSE(std::filesystem::exists(copy_.Unfinished().folder()));
}

TEST_F(CommitCopyTest, AFailureLeavesTheOneBeforeAndTheNextCopyCleansUp) {
  Train(1, 1);
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  Train(2, 2);
  for (const std::string failure : {"copy.rows=eio", "file.write=enospc", "file.sync=eio", "copy.state=eio"}) {
    ASSERT_OK(SetFailpoints(failure));
    EXPECT_FALSE(CopyCommit(run_, copy_, kAddition, true).ok()) << failure;
    ASSERT_OK(SetFailpoints(""));
    ASSERT_OK_AND_ASSIGN(const Contents copied, ReadCommitted(copy_));
    EXPECT_TRUE(copied == ContentsAfter(1, shape_)) << failure;
    EXPECT_FALSE(std::filesystem::exists(copy_.Unfinished().folder())) << failure;
  }
  // Cut after the complete copy, as by a kill: the previous run, or already the new one.
  for (const auto& [failure, steps] : {std::pair("copy.rename=eio", 1), std::pair("copy.remove=eio", 2)}) {
    ASSERT_OK(SetFailpoints(failure));
    EXPECT_FALSE(CopyCommit(run_, copy_, kAddition, true).ok()) << failure;
    ASSERT_OK(SetFailpoints(""));
    EXPECT_TRUE(std::filesystem::exists(copy_.Unfinished().folder())) << failure;
    ASSERT_OK_AND_ASSIGN(const Contents copied, ReadCommitted(copy_));
    EXPECT_TRUE(copied == ContentsAfter(static_cast<std::uint64_t>(steps), shape_)) << failure;
  }
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  EXPECT_FALSE(std::filesystem::exists(copy_.Unfinished().folder()));
}

// The training could not go on until the folder was removed by hand.
TEST_F(CommitCopyTest, AnUnfinishedCopyWithAStateThatCannotBeReadIsRemoved) {
  Train(1, 1);
  for (const std::string& state : {std::string(), std::string(8192, '\0'), std::string(100, 'x')}) {
    std::filesystem::create_directory(run_.folder() / "best.unfinished");
    WriteFileBytes(copy_.Unfinished().State(), state);
    EXPECT_OK(CheckCopyPlace(run_, copy_));
    ASSERT_OK(RemoveUnfinishedCopy(run_, copy_));
    EXPECT_FALSE(std::filesystem::exists(copy_.Unfinished().folder()));
    std::filesystem::create_directory(run_.folder() / "best.unfinished");
    WriteFileBytes(copy_.Unfinished().State(), state);
    ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
    EXPECT_FALSE(std::filesystem::exists(copy_.Unfinished().folder()));
  }
  WriteFileBytes(copy_.State(), "");
  EXPECT_ERROR(CheckCopyPlace(run_, copy_), kCorrupt, "best/STATE");
}

TEST_F(CommitCopyTest, DamagedRowsAreRefused) {
  Train(1, 1);
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(run_.State()));
  const std::filesystem::path path = run_.Table(TableName::kEmbeddings, static_cast<int>(manifest.partitions[1].slot));
  std::string bytes = FileBytes(path);
  bytes[kNpyHeaderBytes + shape_.partition_rows * shape_.dim * sizeof(float) + 5] ^= 1;
  WriteFileBytes(path, bytes);
  EXPECT_ERROR(CopyCommit(run_, copy_, kAddition, true), kCorrupt, "checksum");
  EXPECT_FALSE(std::filesystem::exists(copy_.folder()));
}

TEST_F(CommitCopyTest, AnotherRunOrNoFolderIsNotTouched) {
  const RunPaths other(folder_ / "other");
  std::filesystem::create_directory(other.folder());
  ASSERT_OK(CreateRun(other, shape_));
  std::filesystem::rename(other.folder(), copy_.folder());
  EXPECT_ERROR(CopyCommit(run_, copy_, kAddition, true), kUsage, "holds another run");
  ASSERT_OK_AND_ASSIGN(const Contents there, ReadCommitted(copy_));
  EXPECT_TRUE(there == InitialContents(shape_));
  std::filesystem::remove_all(copy_.folder());
  WriteFileBytes(copy_.folder(), "a file");
  EXPECT_ERROR(CopyCommit(run_, copy_, kAddition, true), kUsage, "is not a folder");
  EXPECT_EQ(FileBytes(copy_.folder()), "a file");
}

TEST_F(CommitCopyTest, ACopyInUseIsBusy) {
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  ASSERT_OK_AND_ASSIGN(const RunLock lock, RunLock::Take(copy_.Lock()));
  const absl::Status status = CopyCommit(run_, copy_, kAddition, true);
  EXPECT_EQ(KindOf(status), ErrorKind::kBusy) << status.ToString();
}

TEST_F(CommitCopyTest, RemovalKeepsWhatIsNoRuns) {
  ASSERT_OK(CopyCommit(run_, copy_, kAddition, true));
  WriteFileBytes(copy_.folder() / "notes.txt", "mine");
  ASSERT_OK(RemoveRunFolder(copy_));
  EXPECT_EQ(FileBytes(copy_.folder() / "notes.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(copy_.State()));
  std::filesystem::remove(copy_.folder() / "notes.txt");
  ASSERT_OK(RemoveRunFolder(copy_));
  EXPECT_FALSE(std::filesystem::exists(copy_.folder()));
  ASSERT_OK(RemoveRunFolder(copy_));  // nothing exists
}

}  // namespace
}  // namespace octavo
