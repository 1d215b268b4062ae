#include "tables/row_checks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tables/table_file.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

// 2,500 rows of 3 in partitions of 1,024, the last one short.
class RowChecksTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kRows = 2500;
  static constexpr std::uint64_t kColumns = 3;

  RowChecksTest() {
    for (std::uint64_t i = 0; i < kRows * kColumns; ++i) values_.push_back(static_cast<float>(i));
    absl::StatusOr<File> file = CreateTableFile(path_, {kRows, kColumns});
    EXPECT_OK(file->WriteAt(kNpyHeaderBytes, std::as_bytes(std::span<const float>(values_))));
  }

  TableReader Open(std::function<bool(std::uint64_t)> is_current = {}) const {
    absl::StatusOr<TableReader> table = TableReader::Open({path_, path_}, {kRows, kColumns}, 1024, {0, 0, 0});
    ExpectedRows expected{{}, std::move(is_current)};
    for (std::uint64_t first = 0; first < kRows; first += 1024) {
      const std::uint64_t last = std::min(first + 1024, kRows);
      expected.checksums.push_back(
          Checksum64(std::as_bytes(std::span(values_).subspan(first * kColumns, (last - first) * kColumns))));
    }
    table->Expect(std::move(expected));
    return *std::move(table);
  }

  // Reads rows [begin, end), `step` at a time.
  static absl::Status Read(const TableReader& table, RowChecks& checks, std::uint64_t begin, std::uint64_t end,
                           std::uint64_t step) {
    std::vector<float> rows;
    for (std::uint64_t first = begin; first < end; first += step) {
      rows.resize(std::min(step, end - first) * kColumns);
      RETURN_IF_ERROR(table.ReadRows(first, rows));
      RETURN_IF_ERROR(checks.Add(first, rows));
    }
    return absl::OkStatus();
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "embeddings.npy";
  std::vector<float> values_;
};

TEST_F(RowChecksTest, AnyStepsFindADamagedPartition) {
  const TableReader table = Open();
  for (const std::uint64_t step : {1U, 100U, 1024U, 1500U, 2500U}) {
    RowChecks whole(table);
    EXPECT_OK(Read(table, whole, 0, kRows, step));
    for (const std::uint64_t row : {0U, 1023U, 1024U, 2499U}) {
      FlipByte(path_, RowOffset({kRows, kColumns}, row) + 5);
      RowChecks checks(table);
      EXPECT_ERROR(Read(table, checks, 0, kRows, step), kCorrupt,
                   "embeddings.npy: partition " + std::to_string(row / 1024) + " ");
      FlipByte(path_, RowOffset({kRows, kColumns}, row) + 5);
    }
  }
}

TEST_F(RowChecksTest, PartsOfPartitionsAreLetBy) {
  FlipByte(path_, RowOffset({kRows, kColumns}, 1500));
  const TableReader table = Open();
  RowChecks checks(table);
  EXPECT_OK(Read(table, checks, 1025, kRows, 100)) << "the first row of partition 1 is missing";
  EXPECT_OK(Read(table, checks, 1024, 2047, 1023)) << "the last one is missing";
  EXPECT_OK(Read(table, checks, 0, 1024, 7)) << "begun anew";
  EXPECT_OK(Read(table, checks, 1024, 1100, 76));
  EXPECT_OK(Read(table, checks, 1101, 2048, 947)) << "one in the middle is missing";
  EXPECT_ERROR(Read(table, checks, 1024, 2048, 64), kCorrupt, "partition 1 (byte 16384 on)");
}

// The checksum is that of the words, not that of the floats that were made of them.
TEST_F(RowChecksTest, ChecksumsOfWordsAreCompared) {
  const NpyShape shape{.rows = kRows, .columns = 8, .element = NpyElement::kBfloat16};
  std::vector<std::uint16_t> words;
  for (std::uint64_t i = 0; i < kRows * 8; ++i) words.push_back(static_cast<std::uint16_t>(7 * i));  // NaNs, too
  {
    ASSERT_OK_AND_ASSIGN(File file, CreateTableFile(path_, shape));
    ASSERT_OK(file.WriteAt(kNpyHeaderBytes, std::as_bytes(std::span<const std::uint16_t>(words))));
  }
  ASSERT_OK_AND_ASSIGN(TableReader table, TableReader::Open({path_, path_}, shape, 1024, {0, 0, 0}));
  ExpectedRows expected;
  for (std::uint64_t first = 0; first < kRows; first += 1024) {
    expected.checksums.push_back(
        Checksum64(std::as_bytes(std::span(words).subspan(first * 8, (std::min(first + 1024, kRows) - first) * 8))));
  }
  table.Expect(std::move(expected));
  const auto read = [&](std::uint64_t step) -> absl::Status {
    RowChecks checks(table);
    for (std::uint64_t first = 0; first < kRows; first += step) {
      std::vector<float> rows(std::min(step, kRows - first) * 8);
      RETURN_IF_ERROR(table.ReadRows(first, rows));
      RETURN_IF_ERROR(checks.Add(first, rows));
    }
    return absl::OkStatus();
  };
  for (const std::uint64_t step : {1U, 100U, 1500U, 2500U}) {
    EXPECT_OK(read(step));
    FlipByte(path_, RowOffset(shape, 2048) + 5);
    EXPECT_ERROR(read(step), kCorrupt, "embeddings.npy: partition 2 (byte 36864 on)");
    FlipByte(path_, RowOffset(shape, 2048) + 5);
  }
}

TEST_F(RowChecksTest, WhatChangedMeanwhileIsNoDamage) {
  FlipByte(path_, RowOffset({kRows, kColumns}, 1500));
  FlipByte(path_, RowOffset({kRows, kColumns}, 2400));
  const TableReader table = Open([](std::uint64_t partition) { return partition == 2; });
  RowChecks checks(table);
  EXPECT_ERROR(Read(table, checks, 0, kRows, 100), kCorrupt, "partition 2 ");
  ASSERT_OK_AND_ASSIGN(const TableReader plain, TableReader::Open({path_, path_}, {kRows, kColumns}, 1024, {0, 0, 0}));
  RowChecks none(plain);
  EXPECT_OK(Read(plain, none, 0, kRows, 100)) << "nothing is expected";
}

}  // namespace
}  // namespace octavo
