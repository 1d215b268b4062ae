// MmapManager on files that are damaged, incomplete or of another shape, and on disks that fail or are full.
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "io/failpoint.h"
#include "io/mapped_range.h"
#include "tables/mmap_manager.h"
#include "tables/table_file.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_disk.h"
#include "tests/tables/mmap_manager_fixture.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

using MmapManagerFaultsTest = MmapManagerTest;

TEST_F(MmapManagerFaultsTest, ChecksumMismatchLeavesThePartitionOut) {
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

TEST_F(MmapManagerFaultsTest, FileCutAfterOpeningIsAnErrorAndNoSignal) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  fs::resize_file(folder_ / "t.npy", 4096 + 1500 * 12);
  for (const Loading loading : {Loading::kDirect, Loading::kPopulated}) {
    EXPECT_OK(table->LoadPartition(P(0), std::nullopt, loading));
    EXPECT_ERROR(table->LoadPartition(P(1), std::nullopt, loading), kCorrupt, "t.npy: ends at byte 22096");
    EXPECT_ERROR(table->LoadPartition(P(2), std::nullopt, loading), kCorrupt, "t.npy: ends at byte");
    EXPECT_EQ(table->resident_bytes(), 1024 * 12U);
    ASSERT_OK(table->EvictPartition(P(0)));
  }
}

// The rows of the first 4 MiB, which is a step of the checks, and some more.
constexpr std::uint64_t kManyRows = 20 * 1024;

std::uint64_t ChecksumOfFile(const fs::path& path, std::uint64_t first, std::uint64_t rows, std::uint64_t columns) {
  const std::string bytes = FileBytes(path).substr(4096 + first * columns * 4, rows * columns * 4);
  return Checksum64(std::as_bytes(std::span<const char>(bytes)));
}

// Nothing is written until mapped rows have been compared, whether they are damaged or not.
TEST_F(MmapManagerFaultsTest, DamagedMappedRowsAreFoundBeforeAnythingIsWritten) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  const fs::path path = folder_ / "t.npy";
  const std::uint64_t first = ChecksumOfFile(path, 0, 1024, 3);
  const std::uint64_t second = ChecksumOfFile(path, 1024, 1024, 3);
  FlipByte(path, 4096 + 1024 * 12 + 5);
  const std::string other = FileBytes(folder_ / "t.other.npy");
  ASSERT_OK(table->LoadPartition(P(0), first, Loading::kMapped));
  EXPECT_OK(table->LoadPartition(P(1), second, Loading::kMapped)) << "nothing is read yet";
  SetRow(*table, 3, 1);
  EXPECT_ERROR(table->WritePartition(P(0)), kCorrupt, "t.npy: partition 1 (byte 16384 on): checksum");
  EXPECT_ERROR(table->EvictPartition(P(0)), kCorrupt, "partition 1");
  EXPECT_ERROR(table->CheckLoaded(), kCorrupt, "partition 1");
  EXPECT_EQ(table->bytes_written(), 0U);
  EXPECT_TRUE(FileBytes(folder_ / "t.other.npy") == other);
  EXPECT_TRUE(table->IsChanged(P(0)));
}

TEST_F(MmapManagerFaultsTest, AReadThatFailsUnderMappedRowsIsAnErrorOfTheNextWrite) {
  const std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
  ASSERT_OK(SetFailpoints("table.check=eio"));
  ASSERT_OK(table->LoadPartition(P(0), ChecksumOfFile(folder_ / "t.npy", 0, 1024, 3), Loading::kMapped));
  SetRow(*table, 3, 1);
  EXPECT_ERROR(table->WritePartition(P(0)), kRuntime, "failpoint table.check");
  ASSERT_OK(SetFailpoints(""));
}

// The kernel discards private copies of pages past the new end, too; the lost stores must be an error.
TEST_F(MmapManagerFaultsTest, AMappedFileThatIsCutIsAnErrorOfTheNextWrite) {
  const std::unique_ptr<MmapManager> table = MakeTable(kManyRows, 100);
  ASSERT_OK(table->LoadPartition(P(3), std::nullopt, Loading::kMapped));
  SetRow(*table, 3 * 1024, 1);
  fs::resize_file(folder_ / "t.npy", 4096 + 3 * 1024 * 400 + 8192);
  EXPECT_ERROR(table->WritePartition(P(3)), kCorrupt, "t.npy: ends at byte 1241088");
}

// The signal's handler (cmd/faults.h) finds the file and the byte by the address.
TEST_F(MmapManagerFaultsTest, MappedRowsAreKnownByTheirFileAndByte) {
  for (const Loading loading : {Loading::kMapped, Loading::kPopulated, Loading::kDirect}) {
    std::unique_ptr<MmapManager> table = MakeTable(3000, 3);
    ASSERT_OK(table->LoadPartition(P(1), std::nullopt, loading));
    const float* const row = table->MutableStateRow(NodeId{1030}).data();
    const MappedPlace place = MappedPlaceAt(row + 1);
    if (loading == Loading::kDirect) {
      EXPECT_EQ(place.name, nullptr);
    } else {
      ASSERT_NE(place.name, nullptr);
      EXPECT_TRUE(std::string_view(place.name).ends_with("t.npy"));
      EXPECT_EQ(place.offset, 4096 + 1030 * 12 + 4U);
    }
    table.reset();
    EXPECT_EQ(MappedPlaceAt(row + 1).name, nullptr);
  }
}

TEST_F(MmapManagerFaultsTest, TruncatedFileIsRefused) {
  MakeTable(3000, 3).reset();
  fs::resize_file(folder_ / "t.npy", 4096 + 3000 * 12 - 1);
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0, 0}), kCorrupt, "expected 40096");
  fs::remove(folder_ / "t.npy");
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0, 0}), kCorrupt, "t.npy");
  EXPECT_FALSE(fs::exists(folder_ / "t.npy")) << "committed rows are never made up";
}

TEST_F(MmapManagerFaultsTest, AnotherShapeIsRefused) {
  MakeTable(3000, 3).reset();
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 4), {0, 0, 0}), kCorrupt, "shape (3000, 3); expected (3000, 4)");
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0}), kCorrupt, "2 partitions");
  TableLayout odd = Layout(3000, 3);
  odd.partition_rows = 1000;
  EXPECT_ERROR(MmapManager::Open(odd, {0, 0, 0}), kUsage, "multiple of 1024");
}

TEST_F(MmapManagerFaultsTest, SmallerReopenIsRefusedAndTruncatesNothing) {
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

TEST_F(MmapManagerFaultsTest, SizesThatOverflowAreErrors) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_ERROR(MmapManager::Open(Layout(1024, kMax / 2), {0}), kUsage, "too large");
  EXPECT_ERROR(MmapManager::Open(Layout(1024, (std::uint64_t{1} << 52) + 1), {0}), kUsage, "too large");
  // The count of partitions must not wrap either.
  EXPECT_ERROR(MmapManager::Open(Layout(kMax - 5, 0), {}), kCorrupt, "0 partitions");
}

// A kill during the creation of the spare slot left an incomplete file, and the run could not be opened any more.
TEST_F(MmapManagerFaultsTest, HalfMadeSpareSlotIsMadeAnew) {
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

// A failed write lost the marks of the rows to write: the next one wrote nothing and reported success.
TEST_F(MmapManagerFaultsTest, FailedWriteLosesNoChange) {
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

// After a failed fdatasync the kernel reports success for the next one although the data is lost.
TEST_F(MmapManagerFaultsTest, FailedSyncIsNotForgotten) {
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

TEST_F(MmapManagerFaultsTest, FailedLoadLeavesThePartitionOut) {
  const std::unique_ptr<MmapManager> table = MakeTable(1500, 3);
  ASSERT_OK(SetFailpoints("table.load=eio"));
  EXPECT_ERROR(table->LoadPartition(P(0)), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  EXPECT_FALSE(table->IsResident(P(0)));
  EXPECT_OK(table->LoadPartition(P(0)));
}

TEST_F(MmapManagerFaultsTest, FullDiskIsAnErrorAtOpen) {
  MakeTable(3000, 3).reset();
  fs::remove(folder_ / "t.other.npy");
  ASSERT_OK(SetFailpoints("file.allocate=enospc"));
  EXPECT_ERROR(MmapManager::Open(Layout(3000, 3), {0, 0, 0}), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  EXPECT_FALSE(fs::exists(folder_ / "t.other.npy"));
  EXPECT_OK(MmapManager::Open(Layout(3000, 3), {0, 0, 0}));
}

TEST_F(MmapManagerFaultsTest, FileSizeLimitIsAnErrorAtOpen) {
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

TEST_F(MmapManagerFaultsTest, StoresOnAFullDiskSucceed) {
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

}  // namespace
}  // namespace octavo
