#include "checkpoint/verify.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "checkpoint/run_lock.h"
#include "checkpoint/run_tables.h"
#include "format/npy_header.h"
#include "gtest/gtest.h"
#include "tests/support/damage.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr TableName kTables[] = {TableName::kEmbeddings, TableName::kOptimizer, TableName::kRelations,
                                 TableName::kRelationOptimizer};

RunShape SmallShape(std::uint64_t lanes = 1) {
  return {.configuration_hash = 11,
          .graph_fingerprint = 12,
          .rows = 2500,  // the last partition is short
          .dim = 3,
          .state_width = 1,
          .relation_rows = 4,
          .relation_width = 3,
          .relation_state_width = 1,
          .partition_rows = 1024,
          .seed = 5,
          .lanes = lanes};
}

absl::Status TrainStep(RunTables& tables, std::uint64_t step) {
  for (std::uint64_t row = step % 2 * 1024; row < tables.embeddings().rows(); row += 700) {
    const NodeId node{row};
    RETURN_IF_ERROR(tables.LoadPartition(tables.embeddings().PartitionOf(node)));
    const WriterStripeLock lock(tables.embeddings().LockFor(node));
    std::vector<float> wide(tables.embeddings().columns());
    tables.embeddings().UpdateRow(
        node, {}, wide, [&](std::span<float> values) { std::ranges::fill(values, static_cast<float>(step)); });
    std::ranges::fill(tables.optimizer().MutableStateRow(node), static_cast<float>(step) + 1);
  }
  for (std::uint64_t row = 0; row < tables.relations().rows(); ++row) {
    std::ranges::fill(tables.relations().Row(row), static_cast<float>(step));
  }
  if (!tables.lanes().empty()) {
    std::ranges::fill(tables.lane_relations().values(), static_cast<float>(step));
    std::ranges::fill(tables.lane_relation_optimizer().values(), static_cast<float>(step) + 1);
    tables.SetRound({.open = 1, .round = step % 3},
                    std::vector<LaneRecord>(tables.lanes().size(), LaneRecord{.batches = step}));
  }
  return tables.Commit(Progress{.step = step});
}

// Whether the two contents of the table differ in the parts that the manifest names: naively, row by row.
bool IsNamed(const RunPaths& paths, const Manifest& manifest, const fs::path& path, const std::string& a,
             const std::string& b) {
  const ManifestHeader& header = manifest.header;
  const auto differs = [&](std::uint64_t begin, std::uint64_t end) {
    return a.substr(begin, end - begin) != b.substr(begin, end - begin);
  };
  if (differs(0, kNpyHeaderBytes)) return true;
  for (const int slot : {0, 1}) {
    for (const auto& [table, row_bytes] :
         {std::pair(TableName::kEmbeddings, header.dim * ElementBytes(header.element())),
          std::pair(TableName::kOptimizer, header.state_width * 4)}) {
      if (path != paths.Table(table, slot)) continue;
      for (std::uint64_t row = 0; row < header.rows; ++row) {
        if (manifest.partitions[row / header.partition_rows].slot != static_cast<std::uint64_t>(slot)) continue;
        const std::uint64_t begin = kNpyHeaderBytes + row * row_bytes;
        if (differs(begin, begin + row_bytes)) return true;
      }
      return false;
    }
  }
  return true;  // relations are named as a whole
}

class VerifyCommitTest : public ::testing::Test {
 protected:
  VerifyCommitTest() : folder_(FastPlace()) {}

  // A run of `steps` commits after the first, left open.
  std::unique_ptr<RunTables> Train(std::uint64_t steps, const RunShape& shape = SmallShape()) {
    const RowInitializer numbers = [](std::uint64_t row, std::span<float> values) {
      std::ranges::fill(values, static_cast<float>(row));
    };
    auto tables = RunTables::Create(paths_, shape, numbers, numbers, /*sync=*/false);
    EXPECT_OK(tables);
    for (std::uint64_t step = 1; step <= steps; ++step) EXPECT_OK(TrainStep(**tables, step));
    return *std::move(tables);
  }

  CheckedCommit Verify(const CommitCheckOptions& options = {}) {
    report_ = std::make_unique<CheckReport>();
    absl::StatusOr<CheckedCommit> commit = VerifyCommit(paths_, options, *report_);
    EXPECT_OK(commit);
    texts_.clear();
    for (const Finding& finding : report_->findings()) texts_ += DescribeFinding(finding) + "\n";
    for (const std::string& note : report_->notes()) texts_ += "note: " + note + "\n";
    return commit.ok() ? *std::move(commit) : CheckedCommit();
  }
  std::uint64_t Damages() {
    Verify();
    return report_->damage_count();
  }

  const TemporaryFolder folder_;
  const RunPaths paths_{folder_.path()};
  std::unique_ptr<CheckReport> report_;
  std::string texts_;
};

TEST_F(VerifyCommitTest, EveryCommitOfAWholeRunIsWhole) {
  std::unique_ptr<RunTables> tables = Train(0);
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_EQ(Verify().slots[0], "generation 0");
  for (std::uint64_t step = 1; step <= 4; ++step) {
    ASSERT_OK(TrainStep(*tables, step));
    const CheckedCommit commit = Verify({.reading = {.piece_bytes = 4096, .deep = step % 2 == 0}, .progress = {}});
    EXPECT_EQ(report_->damage_count(), 0U) << texts_;
    EXPECT_EQ(commit.manifest->header.generation, step + 1);
    EXPECT_EQ(commit.slots[(step + 1) % 2], "generation " + std::to_string(step + 1));
    EXPECT_FALSE(commit.torn_slot.has_value());
  }
  ASSERT_OK(tables->Finish());
  EXPECT_EQ(Damages(), 0U) << texts_;
}

TEST_F(VerifyCommitTest, WithinARoundTheLanesRelationsAreCheckedAndSaidSo) {
  std::unique_ptr<RunTables> tables = Train(0, SmallShape(4));
  EXPECT_EQ(Damages(), 0U) << texts_;
  const auto lane_files = [&] {
    return std::ranges::count_if(report_->files(), [](const CheckedFile& file) {
      return file.file.find("relations.lanes") != std::string::npos && file.what == "4 relations of 4 lanes";
    });
  };
  EXPECT_EQ(lane_files(), 0);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    ASSERT_OK(TrainStep(*tables, step));
    EXPECT_EQ(Damages(), 0U) << texts_;
    EXPECT_EQ(lane_files(), 2) << step;
  }
  tables->SetRound({}, std::vector<LaneRecord>(4));
  ASSERT_OK(tables->Commit(Progress{.step = 4}));
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_EQ(lane_files(), 0);
}

TEST_F(VerifyCommitTest, WithoutRelationsOrOptimizerState) {
  RunShape shape = SmallShape();
  shape.state_width = shape.relation_width = shape.relation_state_width = 0;
  Train(2, shape);
  EXPECT_EQ(Damages(), 0U) << texts_;
}

// May be damaged: a file that the newest manifest does not name, and the rows in a file that it does not name there.
TEST_F(VerifyCommitTest, EveryDamageOfEveryNamedFileIsFoundAndNamed) {
  for (const auto& [finished, element, lanes] :
       {std::tuple(false, NpyElement::kFloat32, 1U), std::tuple(true, NpyElement::kFloat32, 1U),
        std::tuple(false, NpyElement::kBfloat16, 1U), std::tuple(false, NpyElement::kFloat32, 2U)}) {
    RunShape shape = SmallShape(lanes);
    shape.dim = element == NpyElement::kBfloat16 ? 4 : 3;
    shape.element = element;
    std::unique_ptr<RunTables> tables = Train(3, shape);
    if (finished) {
      ASSERT_OK(tables->Finish());
    }
    tables.reset();
    const CheckedCommit commit = Verify();
    ASSERT_EQ(report_->damage_count(), 0U) << texts_;
    std::vector<fs::path> named;
    if (finished) named.push_back(paths_.State());
    for (const CheckedFile& file : report_->files()) {
      if (file.file != paths_.State().string()) named.emplace_back(file.file);
    }
    ASSERT_GE(named.size(), lanes == 1 ? 4U : 6U);
    for (const fs::path& path : named) {
      const std::string whole = FileBytes(path);
      const bool table = path != paths_.State();
      ForEachDamage(path, table ? 128 : 100, 30, [&](const std::string& what, const std::string& bytes) {
        const std::uint64_t damages = Damages();
        if (table && bytes.size() == whole.size() && damages == 0) {
          EXPECT_FALSE(IsNamed(paths_, *commit.manifest, path, bytes, whole)) << what;
        } else {
          EXPECT_GT(damages, 0U) << what;
          EXPECT_NE(texts_.find(path.string()), std::string::npos) << what << "\n" << texts_;
        }
      });
    }
    EXPECT_EQ(Damages(), 0U) << texts_;
    for (const fs::path& path : paths_.All()) fs::remove(path);
  }
}

TEST_F(VerifyCommitTest, EveryByteOfEverySlotIsChecked) {
  Train(2);
  for (std::uint64_t byte = 0; byte < fs::file_size(paths_.State()); byte += byte % 4096 < 500 ? 11 : 397) {
    FlipByte(paths_.State(), byte);
    EXPECT_EQ(Damages(), 1U) << byte << "\n" << texts_;
    FlipByte(paths_.State(), byte);
  }
}

TEST_F(VerifyCommitTest, ContinuesAfterTheFirstDamageAndNamesThePlace) {
  Train(0);
  FlipByte(paths_.Table(TableName::kEmbeddings, 0), kNpyHeaderBytes);
  FlipByte(paths_.Table(TableName::kEmbeddings, 0), kNpyHeaderBytes + 2400 * 12);
  FlipByte(paths_.Table(TableName::kOptimizer, 0), kNpyHeaderBytes + 1024 * 4);
  FlipByte(paths_.Table(TableName::kRelations, 0), kNpyHeaderBytes + 5);
  FlipByte(paths_.Table(TableName::kRelationOptimizer, 0), 3);
  EXPECT_EQ(Damages(), 5U) << texts_;
  for (const std::string text :
       {"embeddings.npy: partition 0 (rows 0 on, byte 4096 on): checksum ",
        "embeddings.npy: partition 2 (rows 2048 on, byte 28672 on): checksum ", "optimizer.npy: partition 1 (rows 1024",
        "relations.npy: rows 0 to 4, byte 4096 on: checksum ", "relations.optimizer.npy: first bytes"}) {
    EXPECT_NE(texts_.find(text), std::string::npos) << text << "\n" << texts_;
  }
}

TEST_F(VerifyCommitTest, MissingAndSwappedTablesAreDamage) {
  Train(0);
  for (const TableName table : kTables) {
    const fs::path path = paths_.Table(table, 0);
    fs::rename(path, folder_ / "away");
    EXPECT_EQ(Damages(), 1U) << texts_;
    EXPECT_NE(texts_.find(path.string() + ": no such file"), std::string::npos) << texts_;
    fs::rename(folder_ / "away", path);
    fs::remove(paths_.Table(table, 1));  // no manifest names it
  }
  EXPECT_EQ(Damages(), 0U) << texts_;
  fs::rename(paths_.State(), folder_ / "away");
  EXPECT_EQ(Damages(), 1U) << texts_;
  fs::rename(folder_ / "away", paths_.State());
  fs::copy_file(paths_.Table(TableName::kRelations, 0), paths_.Table(TableName::kEmbeddings, 0),
                fs::copy_options::overwrite_existing);
  EXPECT_GE(Damages(), 1U);
  EXPECT_NE(texts_.find("embeddings.npy: "), std::string::npos) << texts_;
}

TEST_F(VerifyCommitTest, AManifestOfAnotherRunInTheOtherSlotIsDamage) {
  Train(1);
  const std::string first = FileBytes(paths_.State());
  for (const fs::path& path : paths_.All()) fs::remove(path);
  Train(1);
  const std::string second = FileBytes(paths_.State());
  WriteFileBytes(paths_.State(), second.substr(0, second.size() / 2) + first.substr(first.size() / 2));
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_NE(texts_.find("slot 1: a manifest of another run"), std::string::npos) << texts_;
}

// The newest manifest is torn, so the previous one is used; its files must still exist.
TEST_F(VerifyCommitTest, ATornSlotIsRewrittenWhereAllElseIsWhole) {
  Train(0);
  WriteFileBytes(paths_.State(), std::string("torn").append(FileBytes(paths_.State()).substr(4)));
  const CheckedCommit commit = Verify();
  EXPECT_EQ(report_->damage_count(), 1U) << texts_;
  EXPECT_NE(texts_.find("slot 0: a torn manifest"), std::string::npos) << texts_;
  ASSERT_EQ(commit.torn_slot, 0);
  ASSERT_OK_AND_ASSIGN(const RunLock lock, RunLock::Take(paths_.Lock()));
  ASSERT_OK(RewriteTornSlot(paths_, commit, lock));
  const CheckedCommit repaired = Verify();
  EXPECT_EQ(report_->damage_count(), 0U) << texts_;
  EXPECT_EQ(repaired.manifest->header.generation, 2U);
  EXPECT_EQ(repaired.slots[1], "generation 1");
  EXPECT_FALSE(repaired.torn_slot.has_value());
  // Only the number is new.
  EXPECT_EQ(repaired.manifest->header.progress, commit.manifest->header.progress);
  EXPECT_TRUE(RunTables::Open(paths_, SmallShape(), /*sync=*/false).ok());
  EXPECT_EQ(RewriteTornSlot(paths_, commit, lock).ok(), false) << "once only";
}

// A commit that ends in the middle of C5: resumed and repaired runs continue alike.
TEST_F(VerifyCommitTest, ARepairedRunGoesOnAsAResumedOne) {
  std::unique_ptr<RunTables> tables = Train(2);
  const std::string before = FileBytes(paths_.State());
  ASSERT_OK(TrainStep(*tables, 3));
  const std::string after = FileBytes(paths_.State());
  tables.reset();
  // Generation 4 goes to slot 0: half of its first sector arrived.
  WriteFileBytes(paths_.State(), after.substr(0, 200) + before.substr(200));
  const CheckedCommit commit = Verify();
  ASSERT_EQ(commit.manifest->header.generation, 3U);
  ASSERT_EQ(commit.torn_slot, 0);
  EXPECT_EQ(report_->damage_count(), 1U) << "the rows of generation 3 were not written on\n" << texts_;
  const auto finish = [&] {
    auto opened = RunTables::Open(paths_, SmallShape(), /*sync=*/false);
    EXPECT_OK(opened);
    EXPECT_EQ((*opened)->progress().step, 2U);
    EXPECT_OK(TrainStep(**opened, 3));
    EXPECT_OK((*opened)->Finish());
    std::string bytes;
    for (const TableName table : kTables) bytes += FileBytes(paths_.Table(table, 0));
    return bytes;
  };
  const TemporaryFolder copy(FastPlace());
  fs::copy(folder_.path(), copy.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const std::string resumed = finish();
  for (const fs::path& path : paths_.All()) fs::remove(path);
  fs::copy(copy.path(), folder_.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  {
    ASSERT_OK_AND_ASSIGN(const RunLock lock, RunLock::Take(paths_.Lock()));
    ASSERT_OK(RewriteTornSlot(paths_, Verify(), lock));
  }
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_TRUE(finish() == resumed);
}

TEST_F(VerifyCommitTest, AManifestOfAnotherVersionIsNotCalledTorn) {
  Train(1);
  std::string state = FileBytes(paths_.State());
  state[8] = 5;  // the version of slot 0
  WriteFileBytes(paths_.State(), state);
  EXPECT_FALSE(Verify().torn_slot.has_value());
  EXPECT_EQ(report_->damage_count(), 1U) << texts_;
  EXPECT_NE(texts_.find("version 5"), std::string::npos) << texts_;
}

// Commits go on all the time, also those that finish a run and remove its second files: that is never damage.
TEST_F(VerifyCommitTest, BesideATrainingNothingIsDamage) {
  std::unique_ptr<RunTables> tables = Train(1);
  std::atomic<bool> stop{false};
  std::thread training([&] {
    for (std::uint64_t step = 2; !stop.load(); ++step) {
      EXPECT_OK(TrainStep(*tables, step));
      if (step % 5 != 0) continue;
      EXPECT_OK(tables->Finish());
      tables = *RunTables::Open(paths_, SmallShape(), /*sync=*/false);
    }
  });
  std::uint64_t commits = 0;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (int i = 0; i < 60 || (commits < 20 && std::chrono::steady_clock::now() < give_up); ++i) {
    const CheckedCommit commit = Verify({.reading = {.piece_bytes = 4096}, .progress = {}});
    EXPECT_EQ(report_->damage_count() + report_->unread_count(), 0U) << texts_;
    commits += commit.commits_meanwhile;
  }
  stop.store(true);
  training.join();
  EXPECT_GT(commits, 0U) << "the checks met no commit";
}

// Damage during a training is still damage.
TEST_F(VerifyCommitTest, BesideATrainingDamageIsFound) {
  std::unique_ptr<RunTables> tables = Train(1);
  // Odd steps do not change partition 0.
  const std::uint64_t slot = Verify().manifest->partitions[0].slot;
  std::atomic<bool> stop{false};
  std::thread training([&] {
    for (std::uint64_t step = 3; !stop.load(); step += 2) EXPECT_OK(TrainStep(*tables, step));
  });
  FlipByte(paths_.Table(TableName::kEmbeddings, static_cast<int>(slot)), kNpyHeaderBytes + 77);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Damages(), 1U) << texts_;
    EXPECT_NE(texts_.find("partition 0 "), std::string::npos) << texts_;
  }
  stop.store(true);
  training.join();
}

TEST_F(VerifyCommitTest, AnotherRunInItsPlaceIsAnErrorAndNoDamage) {
  Train(0);
  const std::string state = FileBytes(paths_.State());
  for (const fs::path& path : paths_.All()) fs::remove(path);
  RunShape shape = SmallShape();
  shape.seed = 6;
  Train(0, shape);
  const std::string other = FileBytes(paths_.State());
  // The first read finds the old run's manifest, the second one the new run's.
  WriteFileBytes(paths_.State(), state);
  FlipByte(paths_.Table(TableName::kEmbeddings, 0), kNpyHeaderBytes);
  CheckReport report;
  CommitCheckOptions options;
  options.progress = [&](std::uint64_t) { WriteFileBytes(paths_.State(), other); };
  EXPECT_ERROR(VerifyCommit(paths_, options, report), kRuntime, "another run");
}

}  // namespace
}  // namespace octavo
