// The weaknesses of the published sketch of this class (ruvector-gnn) that have a test here, by its name:
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

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "io/failpoint.h"
#include "tables/table_file.h"
#include "tables/table_reader.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr PartitionId P(std::uint32_t partition) { return static_cast<PartitionId>(partition); }

// Writes a row as training does.
void SetRow(MmapManager& table, std::uint64_t row, float value) {
  const NodeId node{row};
  const WriterStripeLock lock(table.LockFor(node));
  for (float& x : table.MutableRow(node)) x = value;
}

class MmapManagerTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kPartitionRows = 1024;

  TableLayout Layout(std::uint64_t rows, std::uint64_t columns) const {
    return {.slots = {folder_ / "t.npy", folder_ / "t.other.npy"},
            .shape = {.rows = rows, .columns = columns},
            .partition_rows = kPartitionRows};
  }
  static std::vector<std::uint8_t> AllInSlot(std::uint8_t slot, std::uint64_t rows) {
    return std::vector<std::uint8_t>((rows + kPartitionRows - 1) / kPartitionRows, slot);
  }
  // The first value of a row of a new table; column c has c / 8 more.
  static float InitialValue(std::uint64_t row) { return static_cast<float>(row) + 0.5F; }
  static float InitialValue(std::uint64_t row, std::uint64_t column) {
    return InitialValue(row) + static_cast<float>(column) / 8;
  }
  // Makes slot 0 with the initial values and opens the table.
  std::unique_ptr<MmapManager> MakeTable(std::uint64_t rows, std::uint64_t columns) {
    const TableLayout layout = Layout(rows, columns);
    absl::StatusOr<File> file = CreateTableFile(layout.slots[0], layout.shape);
    EXPECT_OK(file);
    std::vector<float> values;
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t c = 0; c < columns; ++c) values.push_back(InitialValue(row, c));
    }
    EXPECT_OK(file->WriteAt(kNpyHeaderBytes, std::as_bytes(std::span<const float>(values))));
    absl::StatusOr<std::unique_ptr<MmapManager>> table = MmapManager::Open(layout, AllInSlot(0, rows));
    EXPECT_OK(table);
    return *std::move(table);
  }
  static std::vector<float> RowOf(const MmapManager& table, std::uint64_t row) {
    std::vector<float> values(table.columns());
    EXPECT_OK(table.ReadRow(NodeId{row}, values));
    return values;
  }
  // A row of a slot's file.
  std::vector<float> RowInFile(int slot, const NpyShape& shape, std::uint64_t row) const {
    const std::string bytes = FileBytes(folder_ / (slot == 0 ? "t.npy" : "t.other.npy"));
    std::vector<float> values(shape.columns);
    std::memcpy(values.data(), bytes.data() + RowOffset(shape, row), values.size() * sizeof(float));
    return values;
  }

  const TemporaryFolder folder_;
};

TEST_F(MmapManagerTest, ReadsCommittedRowsOfEveryWidth) {
  for (const std::uint64_t columns : {0U, 1U, 3U, 17U, 100U}) {
    const std::uint64_t rows = 2 * kPartitionRows + 333;  // a short last partition that ends inside a page
    const std::unique_ptr<MmapManager> table = MakeTable(rows, columns);
    EXPECT_EQ(table->rows(), rows);
    EXPECT_EQ(table->columns(), columns);
    ASSERT_EQ(table->partition_count(), 3U);
    for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p)));
    EXPECT_EQ(table->resident_bytes(), rows * columns * sizeof(float));
    EXPECT_EQ(table->bytes_read(), rows * columns * sizeof(float));
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
  EXPECT_TRUE(table->MutableCompanionRow(NodeId{1400}).empty());
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
  table->LockFor(NodeId{1030}).Lock();
  volatile float* const row = table->MutableRow(NodeId{1030}).data();
  table->LockFor(NodeId{1030}).Unlock();
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

TEST_F(MmapManagerTest, CommittedBytesNeverChange) {
  const std::uint64_t rows = 3000;
  const std::unique_ptr<MmapManager> table = MakeTable(rows, 5);
  const std::string committed = FileBytes(folder_ / "t.npy");
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p)));
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
  ASSERT_OK(table->LoadPartition(P(0)));
  EXPECT_EQ(RowOf(*table, 0)[0], -1.0F);
  SetRow(*table, 0, -2);
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->WritePartition(P(p)));
  ASSERT_OK(table->Sync());
  EXPECT_EQ(FileBytes(folder_ / "t.npy"), committed);
}

TEST_F(MmapManagerTest, CommitTurnsTheSlotsAround) {
  std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  const NpyShape shape{.rows = 1500, .columns = 3};
  ASSERT_OK(table->LoadPartition(P(0)));
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
  // Killed here: what the last commit named is whole.
  table.reset();
  ASSERT_OK_AND_ASSIGN(table, MmapManager::Open(Layout(1500, 3), {1, 0}));
  ASSERT_OK(table->LoadPartition(P(0), checksum));
  EXPECT_EQ(RowOf(*table, 7)[0], 1.0F);
  EXPECT_EQ(RowOf(*table, 8)[0], InitialValue(8));
}

TEST_F(MmapManagerTest, WritesDirtyGroupsOnly) {
  const std::uint64_t columns = 5;
  const std::uint64_t group_bytes = StripeLocks::kGroupRows * columns * sizeof(float);
  const std::unique_ptr<MmapManager> table = MakeTable(2 * kPartitionRows, columns);
  ASSERT_OK(table->LoadPartition(P(0)));
  ASSERT_OK(table->LoadPartition(P(1)));
  // The first write to a slot of unknown contents is a whole one.
  SetRow(*table, 0, 1);
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->bytes_written(), 16 * group_bytes);
  table->MarkCommitted();
  // Slot 0 lacks the group of row 0; two rows of one group and one of another are new.
  for (const std::uint64_t row : {200U, 201U, 700U}) SetRow(*table, row, 2);
  std::uint64_t before = table->bytes_written();
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->bytes_written() - before, 3 * group_bytes);
  // Written again before a commit, the slot lacks only what is newer still.
  SetRow(*table, 1023, 3);
  before = table->bytes_written();
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_EQ(table->bytes_written() - before, group_bytes);
  before = table->bytes_written();
  ASSERT_OK(table->WritePartition(P(0)));
  ASSERT_OK(table->EvictPartition(P(1)));
  EXPECT_EQ(table->bytes_written(), before) << "nothing changed";
}

// Rows of a table are in private memory only; the kernel's copies would be memory that no budget has.
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

TEST_F(MmapManagerTest, ChecksumMismatchLeavesThePartitionOut) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  FlipByte(folder_ / "t.npy", 4096 + 1024 * 12 + 5);
  std::vector<float> values;
  for (std::uint64_t i = 0; i < 1024 * 3; ++i) values.push_back(InitialValue(1024 + i / 3, i % 3));
  const std::uint64_t expected = Checksum64(std::as_bytes(std::span<const float>(values)));
  EXPECT_ERROR(table->LoadPartition(P(1), expected), kCorrupt, "partition 1 (byte 16384 on): checksum");
  EXPECT_FALSE(table->IsResident(P(1)));
  EXPECT_EQ(table->resident_bytes(), 0U);
  EXPECT_EQ(table->CheckRow(NodeId{1024}).code(), absl::StatusCode::kFailedPrecondition);
  FlipByte(folder_ / "t.npy", 4096 + 1024 * 12 + 5);
  EXPECT_OK(table->LoadPartition(P(1), expected));
}

TEST_F(MmapManagerTest, FileCutAfterOpeningIsAnErrorAndNoSignal) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  fs::resize_file(folder_ / "t.npy", 4096 + 1500 * 12);
  EXPECT_OK(table->LoadPartition(P(0)));
  EXPECT_ERROR(table->LoadPartition(P(1)), kCorrupt, "t.npy");
  EXPECT_ERROR(table->LoadPartition(P(2)), kCorrupt, "t.npy");
}

TEST_F(MmapManagerTest, TruncatedFileIsRefused) {
  MakeTable(3000, 3).reset();
  fs::resize_file(folder_ / "t.npy", 4096 + 3000 * 12 - 1);
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0, 0}), kCorrupt, "expected 40096");
  fs::remove(folder_ / "t.npy");
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0, 0}), kCorrupt, "t.npy");
  EXPECT_FALSE(fs::exists(folder_ / "t.npy")) << "committed rows are never made up";
}

TEST_F(MmapManagerTest, AnotherShapeIsRefused) {
  MakeTable(3000, 3).reset();
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 4), {0, 0, 0}), kCorrupt, "shape (3000, 3); expected (3000, 4)");
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0}), kCorrupt, "2 partitions");
  TableLayout odd = Layout(3000, 3);
  odd.partition_rows = 1000;
  EXPECT_ERROR(MmapManager::Open(odd, {0, 0, 0}), kUsage, "multiple of 1024");
}

TEST_F(MmapManagerTest, SmallerReopenIsRefusedAndTruncatesNothing) {
  {
    const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
    for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p)));
    SetRow(*table, 2999, 1);
    ASSERT_OK(table->WritePartition(P(2)));
    ASSERT_OK(table->Sync());
  }
  const std::string first = FileBytes(folder_ / "t.npy");
  const std::string second = FileBytes(folder_ / "t.other.npy");
  EXPECT_ERROR(MmapManager::Open(Layout(1000, 3), {0}), kCorrupt, "expected (1000, 3)");
  EXPECT_ERROR(MmapManager::Open(Layout(1500, 3), {0, 1}), kCorrupt, "expected (1500, 3)");
  EXPECT_ERROR(MmapManager::Open(Layout(1500, 3), {1, 1}), kCorrupt, "t.other.npy");  // nor the spare slot
  EXPECT_EQ(FileBytes(folder_ / "t.npy"), first);
  EXPECT_EQ(FileBytes(folder_ / "t.other.npy"), second);
}

TEST_F(MmapManagerTest, SizesThatOverflowAreErrors) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_ERROR(MmapManager::Open(Layout(1024, kMax / 2), {0}), kUsage, "too large");
  EXPECT_ERROR(MmapManager::Open(Layout(1024, (std::uint64_t{1} << 52) + 1), {0}), kUsage, "too large");
  // The count of partitions must not wrap either.
  EXPECT_ERROR(MmapManager::Open(Layout(kMax - 5, 0), {}), kCorrupt, "0 partitions");
}

// A kill while the spare slot was made left half a file, and the run could not be opened any more.
TEST_F(MmapManagerTest, HalfMadeSpareSlotIsMadeAnew) {
  MakeTable(1500, 3).reset();
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{4096}, std::size_t{4096 + 1500 * 12}}) {
    WriteFileBytes(folder_ / "t.other.npy", std::string(size, '\0'));
    ASSERT_OK_AND_ASSIGN(const auto table, MmapManager::Open(Layout(1500, 3), {0, 0}));
    ASSERT_OK(table->LoadPartition(P(0)));
    SetRow(*table, 3, 1);
    EXPECT_OK(table->WritePartition(P(0)));
    EXPECT_OK(ReadTableShape(folder_ / "t.other.npy"));
  }
  // A slot with committed rows is never made anew.
  WriteFileBytes(folder_ / "t.other.npy", "");
  EXPECT_ERROR(MmapManager::Open(Layout(1500, 3), {0, 1}), kCorrupt, "t.other.npy");
  EXPECT_EQ(fs::file_size(folder_ / "t.other.npy"), 0U);
}

// A failed write took the marks of what was to write with it: the next one wrote nothing and reported success.
TEST_F(MmapManagerTest, FailedWriteLosesNoChange) {
  const NpyShape shape{.rows = 1500, .columns = 3};
  for (const std::string failure : {"file.write=eio", "file.write:2=enospc"}) {
    const std::unique_ptr<MmapManager> table = MakeTable(shape.rows, shape.columns);
    ASSERT_OK(table->LoadPartition(P(0)));
    ASSERT_OK(table->WritePartition(P(0)));
    table->MarkCommitted();
    SetRow(*table, 5, 1);
    SetRow(*table, 300, 2);
    SetRow(*table, 900, 3);
    ASSERT_OK(SetFailpoints(failure));
    EXPECT_ERROR(table->EvictPartition(P(0)), kRuntime, "failpoint");
    ASSERT_OK(SetFailpoints(""));
    EXPECT_TRUE(table->IsResident(P(0)));
    EXPECT_TRUE(table->IsChanged(P(0)));
    ASSERT_OK(table->EvictPartition(P(0)));
    EXPECT_EQ(RowInFile(0, shape, 5)[0], 1.0F);
    EXPECT_EQ(RowInFile(0, shape, 300)[0], 2.0F);
    EXPECT_EQ(RowInFile(0, shape, 900)[0], 3.0F);
    ASSERT_OK(table->LoadPartition(P(0)));
    EXPECT_EQ(RowOf(*table, 300)[0], 2.0F);
    fs::remove(folder_ / "t.other.npy");
  }
}

// After a failed fdatasync the kernel calls the next one a success though the data is gone.
TEST_F(MmapManagerTest, FailedSyncIsNotForgotten) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(table->LoadPartition(P(0)));
  SetRow(*table, 5, 1);
  ASSERT_OK(table->WritePartition(P(0)));
  ASSERT_OK(SetFailpoints("file.sync=eio"));
  EXPECT_ERROR(table->Sync(), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  EXPECT_ERROR(table->Sync(), kRuntime, "sync");
  SetRow(*table, 6, 1);
  ASSERT_OK(table->WritePartition(P(0)));
  EXPECT_ERROR(table->Sync(), kRuntime, "sync");
}

TEST_F(MmapManagerTest, FailedLoadLeavesThePartitionOut) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(SetFailpoints("table.load=eio"));
  EXPECT_ERROR(table->LoadPartition(P(0)), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  EXPECT_FALSE(table->IsResident(P(0)));
  EXPECT_OK(table->LoadPartition(P(0)));
}

TEST_F(MmapManagerTest, FullDiskIsAnErrorAtOpen) {
  MakeTable(3000, 3).reset();
  fs::remove(folder_ / "t.other.npy");
  ASSERT_OK(SetFailpoints("file.allocate=enospc"));
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0, 0}), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  EXPECT_FALSE(fs::exists(folder_ / "t.other.npy"));
  EXPECT_OK(MmapManager::Open(Layout(3000, 3), {0, 0, 0}));
}

TEST_F(MmapManagerTest, FileSizeLimitIsAnErrorAtOpen) {
  MakeTable(30000, 10).reset();
  fs::remove(folder_ / "t.other.npy");
  const ChildEnd end = RunChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto table = MmapManager::Open(Layout(30000, 10), AllInSlot(0, 30000));
    return table.ok() ? 1 : fs::exists(folder_ / "t.other.npy") ? 2 : 0;
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, 0);
}

TEST_F(MmapManagerTest, StoresOnAFullDiskSucceed) {
  const SmallDisk disk(folder_ / "disk", std::uint64_t{2} << 20);
  if (!disk.mounted()) return;
  const NpyShape shape{.rows = 4096, .columns = 20};
  const TableLayout layout{.slots = {disk.folder() / "t.npy", disk.folder() / "t.other.npy"},
                           .shape = shape,
                           .partition_rows = kPartitionRows};
  ASSERT_OK(CreateTableFile(layout.slots[0], shape));
  ASSERT_OK_AND_ASSIGN(const auto table, MmapManager::Open(layout, AllInSlot(0, shape.rows)));
  {
    std::ofstream filler(disk.folder() / "filler", std::ios::binary);
    while (filler << std::string(4096, 'x') << std::flush) {
    }
  }
  ASSERT_EQ(fs::space(disk.folder()).available, 0U);
  for (std::uint32_t p = 0; p < table->partition_count(); ++p) ASSERT_OK(table->LoadPartition(P(p)));
  for (std::uint64_t row = 0; row < shape.rows; ++row) SetRow(*table, row, 1);
  for (std::uint32_t p = 0; p < table->partition_count(); ++p) ASSERT_OK(table->WritePartition(P(p)));
  EXPECT_OK(table->Sync());
}

TEST_F(MmapManagerTest, CompanionRowsCountAsChanged) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(table->LoadPartition(P(1)));
  table->MutableCompanionRow(NodeId{1100})[2] = 8;
  EXPECT_TRUE(table->IsChanged(P(1)));
  EXPECT_EQ(RowOf(*table, 1100)[2], 8.0F);
}

// ---- bf16.

// Makes a table of bf16 with 1 in row 0 and one word more in each row after it.
class Bfloat16TableTest : public MmapManagerTest {
 protected:
  static constexpr std::uint64_t kRows = 2500;
  static constexpr std::uint64_t kColumns = 20;

  TableLayout WordLayout(std::uint64_t rows = kRows, std::uint64_t columns = kColumns) const {
    TableLayout layout = Layout(rows, columns);
    layout.shape.element = NpyElement::kBfloat16;
    return layout;
  }
  static float FirstValue(std::uint64_t row) { return 1.0F + static_cast<float>(row % 128) / 128.0F; }
  std::unique_ptr<MmapManager> MakeWords() {
    const TableLayout layout = WordLayout();
    absl::StatusOr<File> file = CreateTableFile(layout.slots[0], layout.shape);
    EXPECT_OK(file);
    std::vector<std::uint16_t> words;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      words.insert(words.end(), kColumns, static_cast<std::uint16_t>(0x3F80 + row % 128));
    }
    EXPECT_OK(file->WriteAt(kNpyHeaderBytes, std::as_bytes(std::span<const std::uint16_t>(words))));
    absl::StatusOr<std::unique_ptr<MmapManager>> table = MmapManager::Open(layout, AllInSlot(0, kRows));
    EXPECT_OK(table);
    return *std::move(table);
  }
  // Adds to each value of a row.
  static void Add(MmapManager& table, std::uint64_t row, float value, std::uint64_t step) {
    const NodeId node{row};
    std::vector<float> wide(kColumns);
    const WriterStripeLock lock(table.LockFor(node));
    table.UpdateRow(node, {.seed = 3, .step = step}, wide, [&](std::span<float> floats) {
      EXPECT_EQ(floats.size(), kColumns);
      for (float& x : floats) x += value;
    });
  }
};

TEST_F(Bfloat16TableTest, RowsAreReadAsFloatsAndTakeHalfTheBytes) {
  const std::unique_ptr<MmapManager> table = MakeWords();
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p)));
  EXPECT_EQ(table->resident_bytes(), kRows * kColumns * 2);
  EXPECT_EQ(table->bytes_read(), kRows * kColumns * 2);
  for (std::uint64_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(RowOf(*table, row), std::vector<float>(kColumns, FirstValue(row))) << row;
  }
}

TEST_F(Bfloat16TableTest, AnUpdateIsRoundedAtItsSeedStepAndNode) {
  const std::unique_ptr<MmapManager> table = MakeWords();
  ASSERT_OK(table->LoadPartition(P(1)));
  const std::vector<float> before = RowOf(*table, 1500);
  constexpr float kLittle = 0.001F;  // an eighth of the last place
  EXPECT_FALSE(table->IsChanged(P(1)));
  std::vector<float> expected = before;
  for (std::uint64_t step = 1; step <= 50; ++step) {
    Add(*table, 1500, kLittle, step);
    for (float& x : expected) x += kLittle;
    std::vector<std::uint16_t> words(kColumns);
    RoundStochastically({.seed = 3, .step = step}, NodeId{1500}, expected, words);
    Widen(words, expected);
    ASSERT_EQ(RowOf(*table, 1500), expected) << step;
  }
  EXPECT_TRUE(table->IsChanged(P(1)));
  // Rounded to the nearest, the row would stand where it was.
  const float mean = std::accumulate(expected.begin(), expected.end(), 0.0F) / kColumns;
  EXPECT_NEAR(mean, before[0] + 50 * kLittle, 0.02);
  EXPECT_EQ(RowOf(*table, 1499), std::vector<float>(kColumns, FirstValue(1499)));
  EXPECT_EQ(RowOf(*table, 1501), std::vector<float>(kColumns, FirstValue(1501)));
}

TEST_F(Bfloat16TableTest, IsWrittenCommittedEvictedAndOpenedAgain) {
  std::uint64_t checksum = 0;
  std::vector<float> changed;
  {
    const std::unique_ptr<MmapManager> table = MakeWords();
    for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p)));
    Add(*table, 2047, 2.0F, 1);
    Add(*table, 2499, 2.0F, 1);
    changed = RowOf(*table, 2047);
    ASSERT_OK_AND_ASSIGN(checksum, table->WritePartition(P(1)));
    EXPECT_EQ(table->bytes_written(), kPartitionRows * kColumns * 2);
    ASSERT_OK(table->EvictPartition(P(1)));
    ASSERT_OK(table->EvictPartition(P(2)));
    EXPECT_EQ(table->NewestSlot(P(1)), 1);
    ASSERT_OK(table->LoadPartition(P(1), checksum));
    EXPECT_EQ(RowOf(*table, 2047), changed);
    EXPECT_EQ(RowOf(*table, 1024), std::vector<float>(kColumns, FirstValue(1024)));
    table->MarkCommitted();
  }
  EXPECT_EQ(fs::file_size(folder_ / "t.other.npy"), 4096 + kRows * kColumns * 2);
  ASSERT_OK_AND_ASSIGN(const auto table, MmapManager::Open(WordLayout(), {0, 1, 1}));
  ASSERT_OK(table->LoadPartition(P(1), checksum));
  EXPECT_EQ(RowOf(*table, 2047), changed);
  EXPECT_ERROR(table->LoadPartition(P(2), checksum), kCorrupt, "partition 2 (byte 86016 on)");
}

// A partition of an odd number of words a row ends within a page, which would go with its neighbour.
TEST_F(Bfloat16TableTest, PartitionsThatShareAPageAreRefused) {
  EXPECT_ERROR(MmapManager::Open(WordLayout(kRows, 7), AllInSlot(0, kRows)), kUsage, "7 columns of bf16");
  ASSERT_OK(CreateTableFile(folder_ / "t.npy", WordLayout(1000, 7).shape));
  EXPECT_OK(MmapManager::Open(WordLayout(1000, 7), AllInSlot(0, 1000))) << "there is one only";
}

TEST_F(Bfloat16TableTest, AFileOfFloatsIsRefused) {
  MakeTable(kRows, kColumns).reset();
  EXPECT_ERROR(MmapManager::Open(WordLayout(), AllInSlot(0, kRows)), kCorrupt, "expected");
  fs::remove(folder_ / "t.other.npy");
  ASSERT_OK(CreateTableFile(folder_ / "t.npy", {.rows = kRows, .columns = kColumns / 2}));  // of the same size
  EXPECT_ERROR(MmapManager::Open(WordLayout(), AllInSlot(0, kRows)), kCorrupt, "values of float32; expected bf16");
}

// ---- Against a model in memory.

// A table and what it must hold: the newest rows, and those of the last commit.
class TwoSlotModel {
 public:
  TwoSlotModel(const fs::path& folder, std::uint64_t rows, std::uint64_t columns, std::uint64_t seed)
      : layout_{.slots = {folder / "t.npy", folder / "t.other.npy"},
                .shape = {.rows = rows, .columns = columns},
                .partition_rows = 1024},
        random_(seed, RandomPurpose::kSplit, 0, 0),
        newest_(rows * columns),
        committed_(newest_),
        slots_((rows + 1023) / 1024) {
    EXPECT_OK(CreateTableFile(layout_.slots[0], layout_.shape));
    Reopen();
  }

  void Round() {
    const auto p = P(static_cast<std::uint32_t>(random_.Below(slots_.size())));
    switch (random_.Below(12)) {
      case 0:
        Commit();
        break;
      case 1:
        if (random_.Below(4) == 0) Reopen();
        break;
      case 2:
      case 3:
        EXPECT_OK(table_->EvictPartition(p));
        break;
      case 4:
        if (table_->IsResident(p)) CheckWrite(p);
        break;
      default:
        EXPECT_OK(table_->LoadPartition(p, ChecksumOf(newest_, p)));
        Modify(p);
    }
    CheckFiles();
  }

 private:
  std::uint64_t columns() const { return layout_.shape.columns; }
  std::span<const float> ValuesOf(const std::vector<float>& rows, PartitionId p) const {
    const std::uint64_t begin = Value(p) * 1024 * columns();
    return std::span(rows).subspan(begin, std::min<std::uint64_t>(1024 * columns(), rows.size() - begin));
  }
  std::uint64_t ChecksumOf(const std::vector<float>& rows, PartitionId p) const {
    return Checksum64(std::as_bytes(ValuesOf(rows, p)));
  }

  void Modify(PartitionId p) {
    const std::uint64_t in_partition = ValuesOf(newest_, p).size() / columns();
    for (std::uint64_t i = random_.Below(6); i > 0; --i) {
      const std::uint64_t row = Value(p) * 1024 + random_.Below(in_partition);
      std::vector<float> before(columns());
      EXPECT_OK(table_->ReadRow(NodeId{row}, before));
      EXPECT_TRUE(
          std::equal(before.begin(), before.end(), newest_.begin() + static_cast<std::ptrdiff_t>(row * columns())));
      const WriterStripeLock lock(table_->LockFor(NodeId{row}));
      const std::span<float> values = table_->MutableRow(NodeId{row});
      for (std::uint64_t c = 0; c < columns(); ++c) values[c] = newest_[row * columns() + c] = random_.NextFloat();
    }
  }
  void CheckWrite(PartitionId p) {
    const absl::StatusOr<std::uint64_t> checksum = table_->WritePartition(p);
    ASSERT_OK(checksum);
    EXPECT_EQ(*checksum, ChecksumOf(newest_, p));
    EXPECT_NE(table_->NewestSlot(p), slots_[Value(p)]) << "the committed slot is never the target";
  }
  void Commit() {
    for (std::uint32_t p = 0; p < slots_.size(); ++p) {
      if (table_->IsChanged(P(p))) CheckWrite(P(p));
    }
    EXPECT_OK(table_->Sync());
    for (std::uint32_t p = 0; p < slots_.size(); ++p) slots_[p] = table_->NewestSlot(P(p));
    table_->MarkCommitted();
    committed_ = newest_;
  }
  // As after a kill: what was not committed is gone.
  void Reopen() {
    table_.reset();
    absl::StatusOr<std::unique_ptr<MmapManager>> table = MmapManager::Open(layout_, slots_);
    ASSERT_OK(table);
    table_ = *std::move(table);
    newest_ = committed_;
  }
  // Both files are whole .npy files at all times, and the committed slots hold the committed rows to the bit.
  void CheckFiles() {
    for (const fs::path& slot : layout_.slots) {
      const absl::StatusOr<NpyShape> shape = ReadTableShape(slot);
      ASSERT_OK(shape);
      EXPECT_EQ(*shape, layout_.shape);
    }
    const absl::StatusOr<TableReader> reader = TableReader::Open(layout_.slots, layout_.shape, 1024, slots_);
    ASSERT_OK(reader);
    std::vector<float> rows(committed_.size());
    ASSERT_OK(reader->ReadRows(0, rows));
    EXPECT_TRUE(rows == committed_);
  }

  const TableLayout layout_;
  RandomStream random_;
  std::vector<float> newest_;
  std::vector<float> committed_;
  std::vector<std::uint8_t> slots_;  // of the last commit
  std::unique_ptr<MmapManager> table_;
};

class TwoSlots : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(TwoSlots, RandomRoundsMatchAModelInMemory) {
  for (const std::uint64_t columns : {1U, 3U, 10U}) {
    const TemporaryFolder folder;
    TwoSlotModel model(folder.path(), 2 * 1024 + 301, columns, GetParam() * 100 + columns);
    for (int round = 0; round < 250 && !::testing::Test::HasFailure(); ++round) {
      SCOPED_TRACE(round);
      model.Round();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TwoSlots, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace octavo
