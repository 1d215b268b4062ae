#include "tables/table_reader.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tables/table_file.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class TableReaderTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kRows = 2500;  // partitions of 1,024: the last one is short

  // Slot s holds s * 1,000,000 + row in every column.
  void WriteSlots(std::uint64_t columns) {
    for (int slot = 0; slot < 2; ++slot) {
      ASSERT_OK_AND_ASSIGN(File file, CreateTableFile(paths_[static_cast<std::size_t>(slot)], Shape(columns)));
      std::vector<float> rows;
      for (std::uint64_t row = 0; row < kRows; ++row) rows.insert(rows.end(), columns, Expected(slot, row));
      ASSERT_OK(file.WriteAt(kNpyHeaderBytes, std::as_bytes(std::span<const float>(rows))));
    }
  }
  static NpyShape Shape(std::uint64_t columns) { return {.rows = kRows, .columns = columns}; }
  static float Expected(int slot, std::uint64_t row) {
    return static_cast<float>(slot * 1000000) + static_cast<float>(row);
  }

  const TemporaryFolder folder_;
  const std::array<std::filesystem::path, 2> paths_{folder_ / "t.npy", folder_ / "t.other.npy"};
};

class MappedTableReaderTest : public TableReaderTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Mapped, MappedTableReaderTest, ::testing::Bool());

TEST_P(MappedTableReaderTest, ReadsEachPartitionFromItsSlot) {
  for (const std::uint64_t columns : {1U, 3U}) {
    WriteSlots(columns);
    ASSERT_OK_AND_ASSIGN(TableReader reader, TableReader::Open(paths_, Shape(columns), 1024, {0, 1, 0}));
    if (GetParam()) reader.Map();
    for (const auto& [first, count] :
         {std::pair<std::uint64_t, std::uint64_t>{0, kRows}, {1000, 100}, {1023, 2}, {2047, 453}, {2499, 1}, {5, 0}}) {
      std::vector<float> out(count * columns);
      ASSERT_OK(reader.ReadRows(first, out));
      for (std::uint64_t i = 0; i < out.size(); ++i) {
        const std::uint64_t row = first + i / columns;
        ASSERT_EQ(out[i], Expected(row / 1024 == 1 ? 1 : 0, row)) << row;
      }
    }
  }
}

// Rows of one file lie where they are mapped; others are read into the buffer. The values are the same.
TEST_P(MappedTableReaderTest, ShowsRowsWhereTheyAre) {
  for (const std::uint64_t columns : {0U, 1U, 3U}) {
    WriteSlots(columns);
    ASSERT_OK_AND_ASSIGN(TableReader first, TableReader::Open(paths_, Shape(columns), 1024, {0, 0, 1}));
    TableReader reader = std::move(first);
    if (GetParam()) reader.Map();
    for (const auto& [begin, count, one_file] : {std::tuple<std::uint64_t, std::uint64_t, bool>{0, kRows, false},
                                                 {0, 2048, true},
                                                 {1000, 100, true},
                                                 {2047, 2, false},
                                                 {2048, 452, true},
                                                 {2499, 1, true},
                                                 {kRows, 0, false}}) {
      std::vector<float> buffer;
      ASSERT_OK_AND_ASSIGN(const std::span<const float> rows, reader.Rows(begin, count, buffer));
      ASSERT_EQ(rows.size(), count * columns);
      EXPECT_EQ(buffer.empty(), rows.empty() || (GetParam() && one_file)) << begin;
      for (std::uint64_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t row = begin + i / columns;
        ASSERT_EQ(rows[i], Expected(row / 1024 == 2 ? 1 : 0, row)) << row;
      }
    }
    std::vector<float> buffer;
    EXPECT_EQ(reader.Rows(kRows, 1, buffer).status().code(), absl::StatusCode::kOutOfRange);
    reader.DropBehind();  // ends the mapping, whose pages would stay in the cache
    ASSERT_OK_AND_ASSIGN(const std::span<const float> rows, reader.Rows(5, 3, buffer));
    EXPECT_EQ(rows.data(), buffer.data());
  }
}

TEST_P(MappedTableReaderTest, MakesFloatsOfWords) {
  constexpr std::uint64_t kColumns = 6;
  const NpyShape shape{.rows = kRows, .columns = kColumns, .element = NpyElement::kBfloat16};
  // Words are the upper halves of floats: 0x3F80 is 1, and the next ones rise by 1 / 128.
  for (int slot = 0; slot < 2; ++slot) {
    ASSERT_OK_AND_ASSIGN(File file, CreateTableFile(paths_[static_cast<std::size_t>(slot)], shape));
    std::vector<std::uint16_t> words;
    for (std::uint64_t i = 0; i < kRows * kColumns; ++i) {
      words.push_back(static_cast<std::uint16_t>(0x3F80 + (i + static_cast<std::uint64_t>(slot)) % 128));
    }
    ASSERT_OK(file.WriteAt(kNpyHeaderBytes, std::as_bytes(std::span<const std::uint16_t>(words))));
  }
  ASSERT_OK_AND_ASSIGN(TableReader reader, TableReader::Open(paths_, shape, 1024, {0, 1, 0}));
  if (GetParam()) reader.Map();
  for (const auto& [first, count] :
       {std::pair<std::uint64_t, std::uint64_t>{0, kRows}, {1000, 100}, {1023, 2}, {2047, 453}, {2499, 1}, {5, 0}}) {
    std::vector<float> out(count * kColumns);
    ASSERT_OK(reader.ReadRows(first, out));
    for (std::uint64_t i = 0; i < out.size(); ++i) {
      const std::uint64_t at = first * kColumns + i;
      const std::uint64_t slot = at / kColumns / 1024 == 1 ? 1 : 0;
      ASSERT_EQ(out[i], 1.0F + static_cast<float>((at + slot) % 128) / 128.0F) << at;
    }
  }
  EXPECT_ERROR(TableReader::Open(paths_, Shape(kColumns), 1024, {0, 0, 0}), kCorrupt,
               "values of bf16; expected float32");
}

TEST_F(TableReaderTest, NeedsOnlyTheSlotsThatAreNamed) {
  WriteSlots(2);
  std::filesystem::remove(paths_[1]);
  EXPECT_OK(TableReader::Open(paths_, Shape(2), 1024, {0, 0, 0}));
  EXPECT_ERROR(TableReader::Open(paths_, Shape(2), 1024, {0, 1, 0}), kCorrupt, "t.other.npy");
}

TEST_F(TableReaderTest, AnotherShapeIsACorruptError) {
  WriteSlots(2);
  EXPECT_ERROR(TableReader::Open(paths_, {.rows = kRows, .columns = 3}, 1024, {0, 0, 0}), kCorrupt, "expected");
}

// With slots for too few partitions, a read of the last rows ran past them.
TEST_F(TableReaderTest, SlotsThatDoNotCoverTheRowsAreACorruptError) {
  WriteSlots(2);
  EXPECT_ERROR(TableReader::Open(paths_, Shape(2), 1024, {0, 0}), kCorrupt, "2 partitions");
  EXPECT_ERROR(TableReader::Open(paths_, Shape(2), 1024, {0, 0, 0, 0}), kCorrupt, "4 partitions");
  EXPECT_ERROR(TableReader::Open(paths_, Shape(2), 0, {0, 0, 0}), kCorrupt, "partitions");
  EXPECT_ERROR(TableReader::Open(paths_, Shape(2), 1024, {0, 2, 0}), kCorrupt, "slot 2");
}

TEST_F(TableReaderTest, RowsPastTheEndAreAnError) {
  WriteSlots(2);
  ASSERT_OK_AND_ASSIGN(const TableReader reader, TableReader::Open(paths_, Shape(2), 1024, {0, 0, 0}));
  std::vector<float> out(4);
  EXPECT_EQ(reader.ReadRows(kRows - 1, out).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(reader.ReadRows(~std::uint64_t{0}, out).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(TableReaderTest, WidthZeroReadsNothing) {
  WriteSlots(0);
  ASSERT_OK_AND_ASSIGN(const TableReader reader, TableReader::Open(paths_, Shape(0), 1024, {0, 1, 0}));
  EXPECT_OK(reader.ReadRows(3, {}));
}

TEST_F(TableReaderTest, AFileCutAfterOpeningIsAnError) {
  WriteSlots(2);
  ASSERT_OK_AND_ASSIGN(const TableReader reader, TableReader::Open(paths_, Shape(2), 1024, {0, 0, 0}));
  std::filesystem::resize_file(paths_[0], 4096 + 100);
  std::vector<float> out(2);
  EXPECT_OK(reader.ReadRows(0, out));
  EXPECT_ERROR(reader.ReadRows(2000, out), kCorrupt, "t.npy");
}

TEST_F(TableReaderTest, ForgetsRowsOnlyWhereAskedToDropBehind) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  WriteSlots(100);
  for (const std::filesystem::path& path : paths_) SyncFile(path);
  ASSERT_OK_AND_ASSIGN(TableReader reader, TableReader::Open(paths_, Shape(100), 1024, {0, 1, 0}));
  std::vector<float> before(kRows * 100);
  ASSERT_OK(reader.ReadRows(0, before));
  reader.Forget(0, kRows);
  EXPECT_GE(CachedBytes(paths_[0]), kRows * 100 * sizeof(float));
  reader.DropBehind();
  reader.Forget(0, kRows);
  EXPECT_LE(CachedBytes(paths_[0]), 4096U);
  EXPECT_LE(CachedBytes(paths_[1]), 4096U);
  std::vector<float> after(kRows * 100);
  ASSERT_OK(reader.ReadRows(0, after));
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace octavo
