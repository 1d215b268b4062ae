#include "checkpoint/run_tables.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "oneapi/tbb/global_control.h"
#include "tables/bfloat16.h"
#include "tables/table_reader.h"
#include "tests/checkpoint/small_run.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// With partitions that are loaded in each way.
class RunTablesTest : public ::testing::TestWithParam<Loading> {
 protected:
  static absl::StatusOr<std::unique_ptr<RunTables>> LoadedByParam(absl::StatusOr<std::unique_ptr<RunTables>> tables) {
    if (tables.ok()) (*tables)->LoadBy(GetParam());
    return tables;
  }
  static absl::StatusOr<std::unique_ptr<RunTables>> Create(const RunPaths& paths, const RunShape& shape,
                                                           bool sync = true) {
    return LoadedByParam(CreateRun(paths, shape, sync));
  }
  static absl::StatusOr<std::unique_ptr<RunTables>> Open(const RunPaths& paths, const RunShape& shape, bool sync) {
    return LoadedByParam(RunTables::Open(paths, shape, sync));
  }
  // Opens the run and loads all rows. Mapped rows are verified when the next commit writes.
  static absl::Status Verify(const RunPaths& paths, const RunShape& shape) {
    ASSIGN_OR_RETURN(const std::unique_ptr<RunTables> tables, Open(paths, shape, true));
    RETURN_IF_ERROR(ReadOpen(*tables).status());
    SetRow(*tables, 0, 1);
    return tables->Commit(Progress{.step = 9});
  }

  const TemporaryFolder folder_;
  const RunPaths paths_{folder_.path()};
  const RunShape shape_ = SmallShape();
};

class RunTablesDamageTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const RunPaths paths_{folder_.path()};
  const RunShape shape_ = SmallShape();
};

TEST_P(RunTablesTest, ANewRunHoldsWhatItsInitializersSay) {
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
  EXPECT_EQ(tables->generation(), 1U);
  EXPECT_EQ(tables->progress(), Progress());
  ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(*tables));
  EXPECT_TRUE(open == InitialContents(shape_));
  ASSERT_OK_AND_ASSIGN(const Contents committed, ReadCommitted(paths_));
  EXPECT_TRUE(committed == InitialContents(shape_));
  for (const TableName table : kTables) {
    for (const int slot : {0, 1}) EXPECT_TRUE(fs::exists(paths_.Table(table, slot)));
  }
  EXPECT_EQ(tables->relation_bytes(), 4 * 4 * sizeof(float));
  std::uint64_t bytes = 0;
  for (std::uint32_t p = 0; p < tables->embeddings().partition_count(); ++p) {
    bytes += tables->PartitionBytes(static_cast<PartitionId>(p));
  }
  EXPECT_EQ(bytes, shape_.rows * 4 * sizeof(float));
}

TEST_P(RunTablesTest, WithoutRelationsOrOptimizerState) {
  RunShape shape = shape_;
  shape.state_width = shape.relation_width = shape.relation_state_width = 0;
  shape.rows = 1;
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 0, 4);
  ASSERT_OK(tables->Commit(Progress{.step = 1}));
  ASSERT_OK(tables->Finish());
  ASSERT_OK_AND_ASSIGN(const Contents contents, ReadCommitted(paths_));
  EXPECT_EQ(contents.embeddings, std::vector<float>(3, 4.0F));
}

// The rows of a new run, and through commits, evictions and openings those of its updates, in half the bytes.
TEST_P(RunTablesTest, EmbeddingsOfBfloat16) {
  RunShape shape = shape_;
  shape.dim = 4;
  shape.element = NpyElement::kBfloat16;
  Contents expected = InitialContents(shape);
  std::vector<std::uint16_t> words(expected.embeddings.size());
  RoundToNearest(expected.embeddings, words);
  Widen(words, expected.embeddings);
  EXPECT_EQ(expected.embeddings[4 * 100], 100.0F) << "100.25 lies between 100 and 100.5";
  {
    ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape));
    ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(*tables));
    EXPECT_TRUE(open == expected);
    EXPECT_EQ(tables->PartitionBytes(P(0)), 1024 * (4 * 2 + 4));
    EXPECT_EQ(fs::file_size(paths_.Table(TableName::kEmbeddings, 0)), 4096 + shape.rows * 4 * 2);
    EXPECT_EQ(fs::file_size(paths_.Table(TableName::kOptimizer, 0)), 4096 + shape.rows * 4);
    for (const std::uint64_t row : {std::uint64_t{3}, std::uint64_t{1500}, shape.rows - 1}) {
      SetRow(*tables, row, 2.5F);
      std::fill_n(expected.embeddings.begin() + static_cast<std::ptrdiff_t>(4 * row), 4, 2.5F);
      expected.optimizer[row] = 3.5F;
    }
    ASSERT_OK(tables->EvictPartition(P(1)));
    ASSERT_OK(tables->Commit(Progress{.step = 1}));
    ASSERT_OK_AND_ASSIGN(const Contents committed, ReadCommitted(paths_));
    EXPECT_TRUE(committed == expected);
  }
  RunShape floats = shape;
  floats.element = NpyElement::kFloat32;
  EXPECT_ERROR(Open(paths_, floats, true), kCorrupt, "embeddings of bf16; expected float32 as run.json says");
  ASSERT_OK_AND_ASSIGN(const auto tables, Open(paths_, shape, true));
  ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(*tables));
  EXPECT_TRUE(open == expected);
  ASSERT_OK(tables->Finish());
  ASSERT_OK_AND_ASSIGN(const Contents finished, ReadCommitted(paths_));
  EXPECT_TRUE(finished == expected);
}

TEST_P(RunTablesTest, ACommitIsWhatTheNextOpeningFinds) {
  for (std::uint64_t step = 0; step <= 3; ++step) {
    absl::StatusOr<std::unique_ptr<RunTables>> tables = step == 0 ? Create(paths_, shape_) : Open(paths_, shape_, true);
    ASSERT_OK(tables);
    EXPECT_EQ((*tables)->generation(), step + 1);
    EXPECT_EQ((*tables)->progress().step, step);
    ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(**tables));
    EXPECT_TRUE(open == ContentsAfter(step, shape_)) << step;
    ASSERT_OK(TrainStep(**tables, step + 1, shape_));
    // Not committed: gone at the next opening.
    ASSERT_OK((*tables)->LoadPartition(P(1)));
    SetRow(**tables, 1024 + step, -1);
    ASSERT_OK((*tables)->EvictPartition(P(1)));
    SetRelations(**tables, -1);
  }
}

TEST_P(RunTablesTest, SealCompletesTheProgressOrEndsTheCommit) {
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
  ASSERT_OK(tables->Commit(Progress{.step = 1}, [](Progress& next) {
    next.metrics_bytes = 77;
    return absl::OkStatus();
  }));
  EXPECT_EQ(tables->progress(), (Progress{.step = 1, .metrics_bytes = 77}));
  EXPECT_ERROR(tables->Commit(Progress{.step = 2}, [](Progress&) { return RuntimeError("metrics: full"); }), kRuntime,
               "metrics: full");
  EXPECT_EQ(tables->progress().step, 1U);
  EXPECT_ERROR(tables->Commit(Progress{.step = 2}), kRuntime, "generation 2");
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(paths_.State()));
  EXPECT_EQ(manifest.header.generation, 2U);
}

// Evicted rows were written to a slot that the run did not record: another load was a checksum error, the next commit
// left them out, and the one after it wrote into the slot that the manifest named.
TEST_P(RunTablesTest, RowsEvictedBetweenCommitsAreLoadedAndCommitted) {
  ASSERT_OK_AND_ASSIGN(auto tables, Create(paths_, shape_));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 5, 50);
  ASSERT_OK(tables->EvictPartition(P(0)));
  EXPECT_FALSE(tables->embeddings().IsResident(P(0)));
  EXPECT_FALSE(tables->optimizer().IsResident(P(0)));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 6, 60);
  ASSERT_OK(tables->EvictPartition(P(0)));
  ASSERT_OK_AND_ASSIGN(Contents committed, ReadCommitted(paths_));
  EXPECT_TRUE(committed == InitialContents(shape_)) << "nothing was committed";
  ASSERT_OK(tables->Commit(Progress{.step = 1}));
  ASSERT_OK_AND_ASSIGN(committed, ReadCommitted(paths_));
  EXPECT_EQ(committed.embeddings[5 * 3], 50.0F);
  EXPECT_EQ(committed.embeddings[6 * 3], 60.0F);
  EXPECT_EQ(committed.optimizer[6], 61.0F);
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 5, 51);
  ASSERT_OK(tables->EvictPartition(P(0)));
  const Contents before = committed;
  ASSERT_OK_AND_ASSIGN(committed, ReadCommitted(paths_));
  EXPECT_TRUE(committed == before);
  ASSERT_OK_AND_ASSIGN(tables, Open(paths_, shape_, true));
  ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(*tables));
  EXPECT_TRUE(open == before);
}

TEST_P(RunTablesTest, RowsWrittenBehindItsBackAreAnErrorAndNotALoss) {
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 5, 50);
  ASSERT_OK(tables->embeddings().EvictPartition(P(0)));
  EXPECT_FALSE(tables->Commit(Progress{.step = 1}).ok());
  EXPECT_FALSE(tables->Commit(Progress{.step = 1}).ok());
  ASSERT_OK_AND_ASSIGN(const Contents committed, ReadCommitted(paths_));
  EXPECT_TRUE(committed == InitialContents(shape_));
}

TEST_P(RunTablesTest, PartitionPastTheEndIsAnError) {
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
  EXPECT_EQ(tables->LoadPartition(P(3)).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(tables->EvictPartition(P(3)).code(), absl::StatusCode::kOutOfRange);
  EXPECT_OK(tables->Commit(Progress{.step = 1}));
}

TEST_P(RunTablesTest, AnyErrorPoisonsTheRun) {
  for (const std::string point :
       {"commit.C1=eio", "commit.C2=eio", "file.write=enospc", "commit.C3=eio", "file.sync=eio", "commit.C4=eio",
        "commit.C5=eio", "commit.C6=eio", "commit.C7=eio"}) {
    const TemporaryFolder folder;
    const RunPaths paths(folder.path());
    ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths, shape_));
    ASSERT_OK(tables->LoadPartition(P(0)));
    SetRow(*tables, 5, 50);
    ASSERT_OK(SetFailpoints(point));
    EXPECT_ERROR(tables->Commit(Progress{.step = 1}), kRuntime, "failpoint") << point;
    ASSERT_OK(SetFailpoints(""));
    EXPECT_ERROR(tables->Commit(Progress{.step = 1}), kRuntime, "generation 1") << point;
    EXPECT_ERROR(tables->EvictPartition(P(0)), kRuntime, "generation 1") << point;
    EXPECT_ERROR(tables->Finish(), kRuntime, "generation 1") << point;
    EXPECT_TRUE(fs::exists(paths.Table(TableName::kEmbeddings, 1))) << point;
    EXPECT_EQ(tables->generation(), 1U);
  }
}

TEST_P(RunTablesTest, AFailedEvictionPoisonsTheRun) {
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 5, 50);
  ASSERT_OK(SetFailpoints("file.write=eio"));
  EXPECT_ERROR(tables->EvictPartition(P(0)), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  // An eviction in the background failed, and the next commit came before its error was read: the commit's message did
  // not say what had failed.
  EXPECT_ERROR(tables->Commit(Progress{.step = 1}), kRuntime, "earlier write failed (failpoint file.write");
}

TEST_P(RunTablesTest, WithoutSyncNothingIsSynced) {
  ASSERT_OK_AND_ASSIGN(auto tables, Create(paths_, shape_, /*sync=*/false));
  ASSERT_OK_AND_ASSIGN(tables, Open(paths_, shape_, /*sync=*/false));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 5, 50);
  ASSERT_OK(SetFailpoints("file.sync=eio"));
  EXPECT_OK(tables->Commit(Progress{.step = 1}));
  ASSERT_OK(SetFailpoints(""));
}

TEST_P(RunTablesTest, EveryFileIsSyncedBeforeTheManifest) {
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
  // Embeddings, optimizer, both tables of the relations, and STATE: five syncs, each of which can fail the commit.
  int syncs = 0;
  for (int n = 1;; ++n, ++syncs) {
    ASSERT_OK_AND_ASSIGN(const auto run, Open(paths_, shape_, true));
    ASSERT_OK(run->LoadPartition(P(0)));
    SetRow(*run, 5, static_cast<float>(n));
    ASSERT_OK(SetFailpoints("file.sync:" + std::to_string(n) + "=eio"));
    const absl::Status status = run->Commit(Progress{.step = 1});
    ASSERT_OK(SetFailpoints(""));
    if (status.ok()) break;
    if (n < 5) {
      EXPECT_EQ(ReadNewestManifest(paths_.State())->header.generation, 1U) << n;
    }
  }
  EXPECT_EQ(syncs, 5);
}

// Within a round the relations of all lanes are part of a commit, between rounds they are not.
TEST_P(RunTablesTest, LanesAreCommittedWithinARound) {
  const RunShape shape = SmallShape(4);
  ASSERT_OK_AND_ASSIGN(auto tables, Create(paths_, shape));
  for (std::uint64_t step = 1; step <= 5; ++step) {
    ASSERT_OK(TrainStep(*tables, step, shape));
    ASSERT_OK_AND_ASSIGN(const Contents committed, ReadCommitted(paths_));
    EXPECT_TRUE(committed == ContentsAfter(step, shape)) << step;
    ASSERT_OK_AND_ASSIGN(tables, Open(paths_, shape, true));
    ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(*tables));
    EXPECT_TRUE(open == ContentsAfter(step, shape)) << step;
    EXPECT_EQ(open.round.open == 1, step == 1 || step == 2 || step == 4);
  }
  ASSERT_OK(tables->Finish());
  for (const int slot : {0, 1}) EXPECT_FALSE(fs::exists(paths_.Table(TableName::kLaneRelations, slot)));
  // Opening makes the files again, and training goes on within a round.
  ASSERT_OK_AND_ASSIGN(tables, Open(paths_, shape, true));
  ASSERT_OK(TrainStep(*tables, 2, shape));
  EXPECT_OK(Open(paths_, shape, true));
}

TEST_P(RunTablesTest, OtherLanesOrDamagedOnesAreRefused) {
  const RunShape shape = SmallShape(2);
  {
    ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape));
    ASSERT_OK(TrainStep(*tables, 1, shape));
  }
  EXPECT_ERROR(Open(paths_, SmallShape(1), true), kCorrupt, "STATE: 2 lanes; expected 1 as run.json says");
  EXPECT_ERROR(Open(paths_, SmallShape(4), true), kCorrupt, "STATE: 2 lanes; expected 4");
  const int slot = static_cast<int>(ReadNewestManifest(paths_.State())->header.relation_slot);
  for (const TableName table : {TableName::kLaneRelations, TableName::kLaneRelationOptimizer}) {
    // A byte of the second lane.
    const std::uint64_t last = fs::file_size(paths_.Table(table, slot)) - 1;
    FlipByte(paths_.Table(table, slot), last);
    EXPECT_ERROR(Open(paths_, shape, true), kCorrupt, paths_.Table(table, slot).filename().string() + ": checksum");
    FlipByte(paths_.Table(table, slot), last);
  }
  EXPECT_OK(Open(paths_, shape, true));
}

// ---- Finish.

TEST_P(RunTablesTest, FinishLeavesFirstFilesOnly) {
  for (std::uint64_t steps = 0; steps <= 3; ++steps) {
    const TemporaryFolder folder;
    const RunPaths paths(folder.path());
    ASSERT_OK_AND_ASSIGN(auto tables, Create(paths, shape_));
    for (std::uint64_t step = 1; step <= steps; ++step) ASSERT_OK(TrainStep(*tables, step, shape_));
    WriteFileBytes(paths.Gradients(), "scratch");
    ASSERT_OK(tables->Finish());
    for (const TableName table : kTables) {
      EXPECT_TRUE(fs::exists(paths.Table(table, 0)));
      EXPECT_FALSE(fs::exists(paths.Table(table, 1)));
    }
    EXPECT_FALSE(fs::exists(paths.Gradients()));
    ASSERT_OK_AND_ASSIGN(const Contents contents, ReadCommitted(paths));
    EXPECT_TRUE(contents == ContentsAfter(steps, shape_)) << steps;
    // Opening makes the second files again, whole, and training goes on.
    ASSERT_OK_AND_ASSIGN(tables, Open(paths, shape_, true));
    for (const TableName table : kTables) {
      EXPECT_EQ(fs::file_size(paths.Table(table, 1)), fs::file_size(paths.Table(table, 0)));
    }
    ASSERT_OK(TrainStep(*tables, steps + 1, shape_));
    ASSERT_OK_AND_ASSIGN(const Contents more, ReadCommitted(paths));
    EXPECT_TRUE(more == ContentsAfter(steps + 1, shape_));
  }
}

TEST_P(RunTablesTest, FinishRefusesRowsThatAreNotCommitted) {
  ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 5, 50);
  EXPECT_EQ(tables->Finish().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_OK(tables->EvictPartition(P(0)));
  EXPECT_EQ(tables->Finish().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_OK(tables->Commit(Progress{.step = 1}));
  ASSERT_OK(tables->Finish());
  ASSERT_OK_AND_ASSIGN(const Contents contents, ReadCommitted(paths_));
  EXPECT_EQ(contents.embeddings[15], 50.0F);
}

// A commit that fails after the write of its manifest leaves a manifest that names second files.
TEST_P(RunTablesTest, FinishAfterAFailedCommitRemovesNothing) {
  ASSERT_OK_AND_ASSIGN(auto tables, Create(paths_, shape_));
  ASSERT_OK(tables->LoadPartition(P(0)));
  SetRow(*tables, 5, 50);
  ASSERT_OK(SetFailpoints("commit.C6=eio"));
  EXPECT_ERROR(tables->Commit(Progress{.step = 1}), kRuntime, "commit.C6");
  ASSERT_OK(SetFailpoints(""));
  EXPECT_FALSE(tables->Finish().ok());
  ASSERT_OK_AND_ASSIGN(tables, Open(paths_, shape_, true));
  EXPECT_EQ(tables->progress().step, 1U);
  ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(*tables));
  EXPECT_EQ(open.embeddings[15], 50.0F);
}

// ---- Creating.

TEST_P(RunTablesTest, AFailedCreationLeavesNothing) {
  for (const std::string name : {"file.open", "file.allocate", "file.write", "file.sync"}) {
    for (int n = 1; n < 100; ++n) {
      ASSERT_OK(SetFailpoints(name + ":" + std::to_string(n) + "=enospc"));
      const auto made = Create(paths_, shape_);
      ASSERT_OK(SetFailpoints(""));
      if (made.ok()) {
        EXPECT_GT(n, 1) << name << " was never passed";
        break;
      }
      EXPECT_TRUE(fs::is_empty(folder_.path())) << name << " " << n;
    }
    for (const fs::path& path : paths_.All()) fs::remove(path);
  }
}

// ---- Foreign and damaged files.

TEST_P(RunTablesTest, AnotherShapeGraphOrConfigurationIsRefused) {
  Create(paths_, shape_)->reset();
  const auto refused = [&](auto change, const std::string& text) {
    RunShape shape = shape_;
    change(shape);
    EXPECT_ERROR(Open(paths_, shape, true), kCorrupt, text);
  };
  refused([](RunShape& s) { ++s.graph_fingerprint; }, "fingerprint");
  refused([](RunShape& s) { ++s.configuration_hash; }, "run.json");
  refused([](RunShape& s) { ++s.rows; }, "rows 2125; expected 2126");
  refused([](RunShape& s) { ++s.dim; }, "dimension 3; expected 4");
  refused([](RunShape& s) { ++s.state_width; }, "optimizer width 1");
  refused([](RunShape& s) { ++s.relation_rows; }, "relation rows 4");
  refused([](RunShape& s) { ++s.relation_width; }, "relation width 3");
  refused([](RunShape& s) { ++s.relation_state_width; }, "relation optimizer width 1");
  refused([](RunShape& s) { s.partition_rows *= 2; }, "rows a partition");
  EXPECT_OK(Open(paths_, shape_, true));
}

TEST_P(RunTablesTest, ATableOfAnotherRunIsDetected) {
  const TemporaryFolder other_folder;
  const RunPaths other(other_folder.path());
  {
    ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
    ASSERT_OK_AND_ASSIGN(const auto other_tables, Create(other, shape_));
    ASSERT_OK(TrainStep(*other_tables, 1, shape_));
    ASSERT_OK(other_tables->Finish());
  }
  for (const TableName table : kTables) {
    const TemporaryFolder mixed_folder;
    const RunPaths mixed(mixed_folder.path());
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      fs::copy_file(entry.path(), mixed_folder.path() / entry.path().filename());
    }
    fs::copy_file(other.Table(table, 0), mixed.Table(table, 0), fs::copy_options::overwrite_existing);
    const absl::Status status = Verify(mixed, shape_);
    EXPECT_ERROR(status, kCorrupt, mixed.Table(table, 0).string());
    EXPECT_ERROR(status, kCorrupt, "checksum");
  }
}

TEST_P(RunTablesTest, HarmedTablesAreErrorsThatNameTheFile) {
  Create(paths_, shape_)->reset();
  for (const TableName table : kTables) {
    const fs::path path = paths_.Table(table, 0);
    const std::string whole = FileBytes(path);
    const auto expect_corrupt = [&] { EXPECT_ERROR(Verify(paths_, shape_), kCorrupt, path.string()); };
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, whole.size() / 2, whole.size() - 1}) {
      if (size == whole.size()) continue;
      WriteFileBytes(path, whole.substr(0, size));
      expect_corrupt();
    }
    RandomStream random(3, RandomPurpose::kSplit, 0, 0);
    for (int i = 0; i < 20; ++i) {
      std::string damaged = whole;
      damaged[4096 + random.Below(whole.size() - 4096)] ^= static_cast<char>(1 << random.Below(8));
      WriteFileBytes(path, damaged);
      expect_corrupt();
    }
    fs::remove(path);
    expect_corrupt();
    EXPECT_FALSE(fs::exists(path)) << "committed rows are never made up";
    WriteFileBytes(path, whole);
  }
  EXPECT_OK(Verify(paths_, shape_));
}

// The newest generation has overwritten slots of the previous one. If its manifest is torn, that is an error; old rows
// must not be read.
TEST_P(RunTablesTest, ATornManifestWhoseDataMovedOnIsDetected) {
  {
    ASSERT_OK_AND_ASSIGN(const auto tables, Create(paths_, shape_));
    for (std::uint64_t step = 1; step <= 2; ++step) ASSERT_OK(TrainStep(*tables, step, shape_));
    // Working data of generation 4 goes into the slots that generation 2 named.
    ASSERT_OK(tables->LoadPartition(P(1)));
    SetRow(*tables, 1500, 1);
    ASSERT_OK(tables->EvictPartition(P(1)));
  }
  const std::uint64_t slot = fs::file_size(paths_.State()) / 2;
  FlipByte(paths_.State(), slot + 100);  // generation 3
  EXPECT_ERROR(Verify(paths_, shape_), kCorrupt, "checksum");
}

INSTANTIATE_TEST_SUITE_P(Ways, RunTablesTest,
                         ::testing::Values(Loading::kMapped, Loading::kPopulated, Loading::kDirect),
                         [](const auto& way) { return std::string(LoadingName(way.param)); });

// Damage that is found during the training: the run stays as it was, and nothing is committed any more.
TEST_F(RunTablesDamageTest, DamagedRowsAreFoundBeforeTheNextCommit) {
  CreateRun(paths_, shape_)->reset();
  FlipByte(paths_.Table(TableName::kOptimizer, 0), 4096 + 1500 * 4);
  ASSERT_OK_AND_ASSIGN(const auto tables, RunTables::Open(paths_, shape_, true));
  tables->LoadBy(Loading::kMapped);
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(tables->LoadPartition(P(p)));
  SetRow(*tables, 5, 50);
  EXPECT_ERROR(tables->Commit(Progress{.step = 1}), kCorrupt, "optimizer.npy: partition 1 (byte 8192 on): checksum");
  EXPECT_ERROR(tables->CheckLoaded(), kCorrupt, "optimizer.npy: partition 1");
  EXPECT_ERROR(tables->EvictPartition(P(0)), kRuntime, "generation 1");
  EXPECT_EQ(ReadNewestManifest(paths_.State())->header.generation, 1U);
}

// ---- Kills and errors at every place.

// Where, how, how partitions are loaded, and the number of lanes.
using Failing = std::tuple<std::string, std::string, Loading, std::uint64_t>;
class RunTablesFailpoints : public ::testing::TestWithParam<Failing> {};

// A child trains with the n-th pass of a failpoint armed, for each n until the training finishes. After each kill or
// error the run must be exactly at the last acknowledged commit or the next one, and continue to the same result.
TEST_P(RunTablesFailpoints, LeaveTheLastGenerationOrTheNext) {
  const auto& name = std::get<0>(GetParam());
  const auto& action = std::get<1>(GetParam());
  const RunShape shape = SmallShape(std::get<3>(GetParam()));
  int deaths = 0;
  for (int n = 1; n < 1000; ++n) {
    SCOPED_TRACE(name + ":" + std::to_string(n) + "=" + action);
    const TemporaryFolder folder(FastPlace());
    const TemporaryFolder outside(FastPlace());
    const RunPaths paths(folder.path());
    const fs::path acknowledged = outside / "acknowledged";
    const std::string failpoints = name + ":" + std::to_string(n) + "=" + action;
    const auto train = [&](const std::string& armed) {
      // One thread: TBB's are not in a child.
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
      if (!SetFailpoints(armed).ok()) return 9;
      const auto acknowledge = [&](std::uint64_t step) { std::ofstream(acknowledged) << step + 1 << std::flush; };
      const absl::Status status =
          TrainToTheEnd(paths, shape, /*sync=*/true, acknowledge, std::get<Loading>(GetParam()));
      return status.ok() ? 0 : 1;
    };
    const ChildEnd end = RunChild([&] { return train(failpoints); });
    if (end.signal == 0 && end.code == 0) break;
    ++deaths;
    if (action == "kill") {
      ASSERT_EQ(end.signal, SIGKILL);
    } else {
      ASSERT_EQ(end.code, 1);
    }
    std::uint64_t last = 0;  // acknowledged steps, and 1
    std::ifstream(acknowledged) >> last;
    if (!fs::exists(paths.State())) {
      ASSERT_EQ(last, 0U) << "an acknowledged run is gone";
      if (action != "kill") {
        ASSERT_TRUE(fs::is_empty(folder.path()));
      }
    } else {
      ASSERT_OK_AND_ASSIGN(const Contents committed, ReadCommitted(paths));
      ASSERT_OK_AND_ASSIGN(const auto tables, RunTables::Open(paths, shape, true));
      const std::uint64_t step = tables->progress().step;
      ASSERT_TRUE(step + 1 == last || step == last) << step << " steps; " << last << " - 1 were acknowledged";
      const Contents expected = ContentsAfter(step, shape);
      ASSERT_TRUE(committed == expected) << step;
      ASSERT_OK_AND_ASSIGN(const Contents open, ReadOpen(*tables));
      ASSERT_TRUE(open == expected) << step;
    }
    // It continues to the same result.
    const ChildEnd rest = RunChild([&] { return train(""); });
    ASSERT_EQ(rest.signal, 0);
    ASSERT_EQ(rest.code, 0);
    for (const TableName table : kTables) ASSERT_FALSE(fs::exists(paths.Table(table, 1)));
    for (const int slot : {0, 1}) {
      ASSERT_FALSE(fs::exists(paths.Table(TableName::kLaneRelations, slot)));
      ASSERT_FALSE(fs::exists(paths.Table(TableName::kLaneRelationOptimizer, slot)));
    }
    ASSERT_OK_AND_ASSIGN(const Contents finished, ReadCommitted(paths));
    ASSERT_TRUE(finished == ContentsAfter(kSteps, shape));
  }
  EXPECT_GT(deaths, 0) << "never passed";
}

std::string NameOf(const ::testing::TestParamInfo<Failing>& info) {
  std::string name =
      std::get<0>(info.param) + "_" + std::get<1>(info.param) + "_" + std::string(LoadingName(std::get<2>(info.param)));
  if (std::get<3>(info.param) > 1) name += "_lanes";
  std::ranges::replace(name, '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kill, RunTablesFailpoints,
                         ::testing::Combine(::testing::Values("commit.C1", "commit.C2", "commit.C3", "commit.C4",
                                                              "commit.C5", "commit.C6", "commit.C7", "finish.remove",
                                                              "table.load", "file.open", "file.read", "file.write",
                                                              "file.allocate", "file.sync"),
                                            ::testing::Values("kill"),
                                            ::testing::Values(Loading::kMapped, Loading::kDirect),
                                            ::testing::Values(1)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Error, RunTablesFailpoints,
                         ::testing::Combine(::testing::Values("commit.C1", "commit.C4", "commit.C6", "commit.C7",
                                                              "finish.remove", "file.open", "file.write",
                                                              "file.allocate", "file.sync"),
                                            ::testing::Values("eio"),
                                            ::testing::Values(Loading::kMapped, Loading::kDirect),
                                            ::testing::Values(1)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(MappedRows, RunTablesFailpoints,
                         ::testing::Combine(::testing::Values("table.check"), ::testing::Values("kill", "eio"),
                                            ::testing::Values(Loading::kMapped), ::testing::Values(1)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Lanes, RunTablesFailpoints,
                         ::testing::Combine(::testing::Values("commit.lanes", "commit.C5", "commit.C7", "finish.remove",
                                                              "file.open", "file.write", "file.allocate", "file.sync"),
                                            ::testing::Values("kill", "eio"), ::testing::Values(Loading::kDirect),
                                            ::testing::Values(2)),
                         NameOf);

}  // namespace
}  // namespace octavo
