// The weaknesses of the published sketch of this class (ruvector-gnn) that have a test, by its name, here or in
// mmap_manager_faults_test.cc:
//   a row reference outliving its lock      tests/style/thread_safety (does not compile)
//   an id past the end                      RowPastTheEndIsAnError, PartitionPastTheEndIsAnError
//   flushing the whole map                  WritesDirtyGroupsOnly
//   a row that crosses a page               RowAcrossAPageIsWrittenWhole
//   no header, no dimension check           AnotherShapeIsRefused, and table_file_test.cc
//   no file lock                            tests/checkpoint/run_lock_test.cc
//   a smaller reopen truncating data        SmallerReopenIsRefusedAndTruncatesNothing
//   a full disk turned into SIGBUS          FullDiskIsAnErrorAtOpen, StoresOnAFullDiskSucceed
//   unchecked size multiplication           SizesThatOverflowAreErrors
// Stale gradients and an apply on one thread are in mmap_gradient_accumulator_test.cc.
#include "tables/mmap_manager.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "io/file.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/tables/mmap_manager_fixture.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class MmapManagerLoadingTest : public MmapManagerTest, public ::testing::WithParamInterface<Loading> {};
INSTANTIATE_TEST_SUITE_P(Ways, MmapManagerLoadingTest,
                         ::testing::Values(Loading::kMapped, Loading::kPopulated, Loading::kDirect),
                         [](const auto& way) { return std::string(LoadingName(way.param)); });

TEST_P(MmapManagerLoadingTest, ReadsCommittedRowsOfEveryWidth) {
  for (const std::uint64_t columns : {0U, 1U, 3U, 17U, 100U}) {
    const std::uint64_t rows = 2 * kPartitionRows + 333;  // a short last partition that ends inside a page
    const std::unique_ptr<MmapManager> table = MakeTable(rows, columns);
    EXPECT_EQ(table->rows(), rows);
    EXPECT_EQ(table->columns(), columns);
    ASSERT_EQ(table->partition_count(), 3U);
    for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p), std::nullopt, GetParam()));
    EXPECT_EQ(table->resident_bytes(), rows * columns * sizeof(float));
    EXPECT_EQ(table->bytes_read(), GetParam() == Loading::kMapped ? 0 : rows * columns * sizeof(float));
    for (const std::uint64_t row : {std::uint64_t{0}, std::uint64_t{1023}, std::uint64_t{1024}, rows - 1}) {
      const std::vector<float> values = RowOf(*table, row);
      for (std::uint64_t c = 0; c < columns; ++c) EXPECT_EQ(values[c], InitialValue(row, c));
    }
    fs::remove(folder_ / "t.other.npy");
  }
}

TEST_F(MmapManagerTest, WidthZeroIsLoadedWrittenAndEvicted) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 0);
  ASSERT_OK(table->LoadPartition(P(1), Checksum64({})));
  SetRow(*table, 1400, 1);
  EXPECT_TRUE(table->MutableStateRow(NodeId{1400}).empty());
  EXPECT_TRUE(table->IsChanged(P(1)));
  ASSERT_OK_AND_ASSIGN(const std::uint64_t checksum, table->WritePartition(P(1)));
  EXPECT_EQ(checksum, Checksum64({}));
  EXPECT_EQ(table->NewestSlot(P(1)), 1);
  EXPECT_EQ(table->bytes_written(), 0U);
  EXPECT_OK(table->EvictPartition(P(1)));
}

TEST_F(MmapManagerTest, RowPastTheEndIsAnError) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(table->LoadPartition(P(0)));
  ASSERT_OK(table->LoadPartition(P(1)));
  std::vector<float> out(3, 7.0F);
  EXPECT_OK(table->CheckRow(NodeId{1499}));
  // 1,500 to 2,047 lie inside the last partition and its mapping's last page.
  for (const std::uint64_t row : {std::uint64_t{1500}, std::uint64_t{1501}, std::uint64_t{2047}, std::uint64_t{2048},
                                  std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(table->CheckRow(NodeId{row}).code(), absl::StatusCode::kOutOfRange) << row;
    EXPECT_EQ(table->ReadRow(NodeId{row}, out).code(), absl::StatusCode::kOutOfRange) << row;
    static_cast<void>(table->LockFor(NodeId{row}));  // any id has a lock
  }
  EXPECT_EQ(out, std::vector<float>(3, 7.0F));
}

TEST_F(MmapManagerTest, PartitionPastTheEndIsAnError) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  for (const std::uint32_t p : {2U, 3U, std::numeric_limits<std::uint32_t>::max()}) {
    EXPECT_EQ(table->LoadPartition(P(p)).code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(table->EvictPartition(P(p)).code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(table->WritePartition(P(p)).status().code(), absl::StatusCode::kOutOfRange);
  }
}

TEST_F(MmapManagerTest, RowIntoABufferOfAnotherWidthIsAnError) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(table->LoadPartition(P(0)));
  std::vector<float> out(2);
  EXPECT_EQ(table->ReadRow(NodeId{0}, out).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(MmapManagerTest, RowOfAPartitionThatIsNotLoadedIsAnError) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  std::vector<float> out(3);
  EXPECT_EQ(table->ReadRow(NodeId{5}, out).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_OK(table->LoadPartition(P(1)));
  EXPECT_OK(table->CheckRow(NodeId{1024}));
  EXPECT_EQ(table->CheckRow(NodeId{1023}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(table->CheckRow(NodeId{2048}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(table->WritePartition(P(0)).status().code(), absl::StatusCode::kFailedPrecondition);
}

using MmapManagerDeathTest = MmapManagerTest;

TEST_F(MmapManagerDeathTest, TouchingAnEvictedRowFaultsAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  ASSERT_OK(table->LoadPartition(P(1)));
  volatile float* const row = table->MutableStateRow(NodeId{1030}).data();
  *row = 4.0F;
  EXPECT_DEATH({ row[-3 * 1024] = 1.0F; }, "");  // partition 0, never loaded
  ASSERT_OK(table->EvictPartition(P(1)));
  EXPECT_DEATH({ *row = 5.0F; }, "");
  EXPECT_DEATH({ static_cast<void>(*row); }, "");
  ASSERT_OK(table->LoadPartition(P(1)));
  EXPECT_EQ(*row, 4.0F);
}

TEST_F(MmapManagerTest, LoadingTwiceAndEvictingTwiceDoNothing) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  ASSERT_OK(table->LoadPartition(P(2)));
  SetRow(*table, 2048, 9);
  ASSERT_OK(table->LoadPartition(P(2)));
  EXPECT_EQ(RowOf(*table, 2048)[0], 9.0F);
  ASSERT_OK(table->EvictPartition(P(2)));
  EXPECT_OK(table->EvictPartition(P(2)));
  EXPECT_EQ(table->resident_bytes(), 0U);
}

TEST_P(MmapManagerLoadingTest, CommittedBytesNeverChange) {
  const std::uint64_t rows = 3000;
  const std::unique_ptr<MmapManager> table = MakeTable(rows, 5);
  const std::string committed = FileBytes(folder_ / "t.npy");
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p), std::nullopt, GetParam()));
  std::atomic<bool> stop{false};
  std::vector<std::thread> trainers;
  for (std::uint64_t t = 0; t < 2; ++t) {
    trainers.emplace_back([&, t] {
      for (std::uint64_t i = t; !stop; i += 7) SetRow(*table, i % rows, static_cast<float>(i));
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(FileBytes(folder_ / "t.npy"), committed);
  stop = true;
  for (std::thread& trainer : trainers) trainer.join();
  for (std::uint64_t row = 0; row < rows; ++row) SetRow(*table, row, -1);
  EXPECT_EQ(FileBytes(folder_ / "t.npy"), committed);
  ASSERT_OK(table->EvictPartition(P(0)));
  ASSERT_OK(table->LoadPartition(P(0), std::nullopt, GetParam()));
  EXPECT_EQ(RowOf(*table, 0)[0], -1.0F);
  SetRow(*table, 0, -2);
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->WritePartition(P(p)));
  ASSERT_OK(table->Sync());
  EXPECT_EQ(FileBytes(folder_ / "t.npy"), committed);
}

TEST_P(MmapManagerLoadingTest, CommitTurnsTheSlotsAround) {
  std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  const NpyShape shape{.rows = 1500, .columns = 3};
  ASSERT_OK(table->LoadPartition(P(0), std::nullopt, GetParam()));
  SetRow(*table, 7, 1);
  EXPECT_TRUE(table->IsChanged(P(0)));
  EXPECT_FALSE(table->IsChanged(P(1)));
  ASSERT_OK_AND_ASSIGN(const std::uint64_t checksum, table->WritePartition(P(0)));
  EXPECT_FALSE(table->IsChanged(P(0)));
  EXPECT_EQ(table->CommittedSlot(P(0)), 0);
  EXPECT_EQ(table->NewestSlot(P(0)), 1);
  ASSERT_OK(table->Sync());
  table->MarkCommitted();
  EXPECT_EQ(table->CommittedSlot(P(0)), 1);
  EXPECT_EQ(table->CommittedSlot(P(1)), 0);
  const std::string second = FileBytes(folder_ / "t.other.npy");
  SetRow(*table, 8, 2);
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->NewestSlot(P(0)), 0);
  EXPECT_EQ(FileBytes(folder_ / "t.other.npy"), second);
  EXPECT_EQ(RowInFile(0, shape, 7)[0], 1.0F) << "a change of the commit before must be in this slot too";
  EXPECT_EQ(RowInFile(0, shape, 8)[0], 2.0F);
  EXPECT_EQ(RowInFile(0, shape, 9)[0], InitialValue(9));
  // Killed here: the slots that the last commit named are intact.
  table.reset();
  ASSERT_OK_AND_ASSIGN(table, MmapManager::Open(Layout(1500, 3), {1, 0}));
  ASSERT_OK(table->LoadPartition(P(0), checksum, GetParam()));
  EXPECT_EQ(RowOf(*table, 7)[0], 1.0F);
  EXPECT_EQ(RowOf(*table, 8)[0], InitialValue(8));
}

// Whether a table's file is mapped.
bool IsMapped(const fs::path& path) {
  return FileBytes("/proc/self/maps").find(path.string() + "\n") != std::string::npos;
}

// Once it is written, all its pages are private copies, and the next commit may write to the file that it is mapped
// from.
TEST_F(MmapManagerTest, AMappedPartitionStaysMappedUntilItIsEvicted) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  for (std::uint32_t p = 0; p < 2; ++p) ASSERT_OK(table->LoadPartition(P(p), std::nullopt, Loading::kMapped));
  EXPECT_TRUE(IsMapped(folder_ / "t.npy"));
  SetRow(*table, 7, 1);
  ASSERT_OK(table->WritePartition(P(0)));
  ASSERT_OK(table->EvictPartition(P(1)));
  EXPECT_TRUE(IsMapped(folder_ / "t.npy")) << "partition 0 still is";
  EXPECT_EQ(RowOf(*table, 7)[0], 1.0F);
  EXPECT_EQ(RowOf(*table, 8)[0], InitialValue(8));
  table->MarkCommitted();
  SetRow(*table, 8, 2);
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(RowInFile(0, {.rows = 3000, .columns = 3}, 8)[0], 2.0F);
  // The file may hold anything now: no row is read from it.
  for (std::uint64_t row = 0; row < 1024; ++row) {
    ASSERT_EQ(RowOf(*table, row)[0], row == 7 ? 1.0F : row == 8 ? 2.0F : InitialValue(row)) << row;
  }
  ASSERT_OK(table->EvictPartition(P(0)));
  EXPECT_FALSE(IsMapped(folder_ / "t.npy"));
}

// Evicted and loaded again between two commits, a partition is mapped from the slot that it will be written to.
TEST_F(MmapManagerTest, AMappedPartitionIsWrittenToTheFileThatItIsMappedFrom) {
  const std::uint64_t rows = 1000;
  const std::unique_ptr<MmapManager> table = MakeTable(rows, 100);
  ASSERT_OK(table->LoadPartition(P(0)));
  SetRow(*table, 5, 1);
  ASSERT_OK(table->EvictPartition(P(0)));
  ASSERT_OK(table->LoadPartition(P(0), std::nullopt, Loading::kMapped));
  EXPECT_TRUE(IsMapped(folder_ / "t.other.npy"));
  for (std::uint64_t row = 0; row < rows; row += 50) SetRow(*table, row, 2);
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->NewestSlot(P(0)), 1);
  const NpyShape shape{.rows = rows, .columns = 100};
  for (std::uint64_t row = 0; row < rows; ++row) {
    const float expected = row % 50 == 0 ? 2.0F : row == 5 ? 1.0F : InitialValue(row);
    ASSERT_EQ(RowOf(*table, row)[0], expected) << row;
    if (row % 25 == 5 || row % 50 == 0) {
      ASSERT_EQ(RowInFile(1, shape, row)[0], expected) << row;
    }
  }
}

TEST_F(MmapManagerTest, WritesDirtyGroupsOnly) {
  const std::uint64_t columns = 5;
  const std::uint64_t largest_partition_bytes = StripeLocks::kGroupRows * columns * sizeof(float);
  const std::unique_ptr<MmapManager> table = MakeTable(2 * kPartitionRows, columns);
  ASSERT_OK(table->LoadPartition(P(0)));
  ASSERT_OK(table->LoadPartition(P(1)));
  // The first write to a slot of unknown contents has all rows.
  SetRow(*table, 0, 1);
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->bytes_written(), 16 * largest_partition_bytes);
  table->MarkCommitted();
  // Slot 0 lacks the group of row 0; two rows of one group and one of another are new.
  for (const std::uint64_t row : {200U, 201U, 700U}) SetRow(*table, row, 2);
  std::uint64_t before = table->bytes_written();
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->bytes_written() - before, 3 * largest_partition_bytes);
  // Written again before a commit, the slot lacks only what is newer still.
  SetRow(*table, 1023, 3);
  before = table->bytes_written();
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->bytes_written() - before, largest_partition_bytes);
  before = table->bytes_written();
  ASSERT_OK(table->WritePartition(P(0)));
  ASSERT_OK(table->EvictPartition(P(1)));
  EXPECT_EQ(table->bytes_written(), before) << "nothing changed";
}

// Rows of a table are in private memory only; copies in the page cache would be memory that no estimate includes.
TEST_F(MmapManagerTest, LoadsAndEvictsPastThePageCache) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  constexpr std::uint64_t kRows = 8 * kPartitionRows;
  const std::unique_ptr<MmapManager> table = MakeTable(kRows, 100);
  SyncFile(folder_ / "t.npy");
  ASSERT_OK_AND_ASSIGN(const File file, File::OpenRead(folder_ / "t.npy"));
  file.DropCache(0, 0);
  for (std::uint32_t p = 0; p < 8; ++p) {
    ASSERT_OK(table->LoadPartition(P(p)));
    ASSERT_OK(table->WritePartition(P(p)));
  }
  table->MarkCommitted();
  // All but a few groups change, and those that do begin and end inside pages.
  for (std::uint64_t row = 0; row < kRows; ++row) {
    if (row / StripeLocks::kGroupRows % 8 != 0) SetRow(*table, row, 1);
  }
  for (std::uint32_t p = 0; p < 8; ++p) ASSERT_OK(table->EvictPartition(P(p)));
  ASSERT_OK(table->Sync());
  const std::uint64_t cached = CachedBytes(folder_ / "t.npy") + CachedBytes(folder_ / "t.other.npy");
  EXPECT_LE(cached, kRows * 400 / 20);
}

TEST_F(MmapManagerTest, ShortLastGroupIsWrittenToItsEndOnly) {
  const std::unique_ptr<MmapManager> table = MakeTable(1024 + 70, 3);
  ASSERT_OK(table->LoadPartition(P(1)));
  SetRow(*table, 1093, 1);
  ASSERT_OK(table->WritePartition(P(1)));
  EXPECT_EQ(table->bytes_written(), 70U * 12U);
  EXPECT_EQ(fs::file_size(folder_ / "t.other.npy"), 4096U + 1094U * 12U);
}

TEST_F(MmapManagerTest, RowAcrossAPageIsWrittenWhole) {
  const NpyShape shape{.rows = 1024, .columns = 100};
  const std::unique_ptr<MmapManager> table = MakeTable(shape.rows, shape.columns);
  ASSERT_OK(table->LoadPartition(P(0)));
  ASSERT_OK(table->WritePartition(P(0)));
  table->MarkCommitted();
  for (const std::uint64_t row : {10U, 20U, 63U, 1023U}) SetRow(*table, row, -3);  // row 10: bytes 4,000 to 4,399
  ASSERT_OK(table->WritePartition(P(0)));
  for (const std::uint64_t row : {10U, 20U, 63U, 1023U}) {
    EXPECT_EQ(RowInFile(0, shape, row), std::vector<float>(100, -3.0F)) << row;
  }
  EXPECT_EQ(RowInFile(0, shape, 11)[99], InitialValue(11, 99));
}

TEST_F(MmapManagerTest, MarkChangedMovesAPartition) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(table->LoadPartition(P(1)));
  table->MarkChanged(P(1));
  EXPECT_TRUE(table->IsChanged(P(1)));
  EXPECT_FALSE(table->IsChanged(P(0)));
  ASSERT_OK(table->EvictPartition(P(1)));
  EXPECT_EQ(table->NewestSlot(P(1)), 1);
  EXPECT_EQ(RowInFile(1, {.rows = 1500, .columns = 3}, 1499)[2], InitialValue(1499, 2));
}

TEST_F(MmapManagerTest, CompanionRowsCountAsChanged) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(table->LoadPartition(P(1)));
  table->MutableStateRow(NodeId{1100})[2] = 8;
  EXPECT_TRUE(table->IsChanged(P(1)));
  EXPECT_EQ(RowOf(*table, 1100)[2], 8.0F);
}

}  // namespace
}  // namespace octavo
