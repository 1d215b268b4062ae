#include "tables/relation_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tables/table_file.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class RelationTableTest : public ::testing::Test {
 protected:
  RelationTable Make(std::uint64_t rows, std::uint64_t columns) {
    return RelationTable(paths_, {.rows = rows, .columns = columns});
  }
  static void Fill(RelationTable& table, float offset) {
    for (std::uint64_t row = 0; row < table.rows(); ++row) {
      for (std::size_t c = 0; c < table.columns(); ++c) {
        table.Row(row)[c] = offset + static_cast<float>(row * 10 + c);
      }
    }
  }

  const TemporaryFolder folder_;
  const std::array<std::filesystem::path, 2> paths_{folder_ / "r.npy", folder_ / "r.other.npy"};
};

TEST_F(RelationTableTest, BeginsWithZeros) {
  const RelationTable table = Make(5, 3);
  for (const float value : table.values()) EXPECT_EQ(value, 0.0F);
  EXPECT_EQ(table.Row(4).size(), 3U);
}

TEST_F(RelationTableTest, WritesANpyFileAndReadsItBack) {
  for (const std::uint64_t columns : {0U, 1U, 3U, 100U}) {
    RelationTable table = Make(7, columns);
    Fill(table, 1);
    ASSERT_OK_AND_ASSIGN(const std::uint64_t checksum, table.Write(0, /*sync=*/true));
    EXPECT_EQ(checksum, Checksum64(std::as_bytes(table.values())));
    RelationTable again = Make(7, columns);
    ASSERT_OK(again.Load(0, checksum));
    EXPECT_TRUE(std::ranges::equal(table.values(), again.values()));
    ASSERT_OK_AND_ASSIGN(const NpyShape shape, ReadTableShape(paths_[0]));
    EXPECT_EQ(shape, (NpyShape{.rows = 7, .columns = columns}));
    std::filesystem::remove(paths_[0]);
  }
}

TEST_F(RelationTableTest, SlotsAreIndependent) {
  RelationTable table = Make(4, 4);
  Fill(table, 1);
  ASSERT_OK_AND_ASSIGN(const std::uint64_t first, table.Write(0, true));
  const std::string bytes = FileBytes(paths_[0]);
  Fill(table, 2);
  ASSERT_OK_AND_ASSIGN(const std::uint64_t second, table.Write(1, true));
  EXPECT_NE(first, second);
  EXPECT_EQ(FileBytes(paths_[0]), bytes);
  ASSERT_OK(table.Load(0, first));
  EXPECT_EQ(table.Row(0)[0], 1.0F);
  ASSERT_OK(table.Load(1, second));
  EXPECT_EQ(table.Row(0)[0], 2.0F);
}

TEST_F(RelationTableTest, HarmedDataIsACorruptError) {
  RelationTable table = Make(4, 4);
  Fill(table, 1);
  ASSERT_OK_AND_ASSIGN(const std::uint64_t checksum, table.Write(0, false));
  FlipByte(paths_[0], 4096 + 63);
  EXPECT_ERROR(table.Load(0, checksum), kCorrupt, "checksum");
}

TEST_F(RelationTableTest, MissingOtherOrShortFilesAreCorruptErrors) {
  RelationTable table = Make(4, 4);
  EXPECT_ERROR(table.Load(0, 0), kCorrupt, "r.npy");
  ASSERT_OK_AND_ASSIGN(const std::uint64_t checksum, table.Write(0, false));
  EXPECT_ERROR(Make(4, 3).Load(0, checksum), kCorrupt, "shape (4, 4); expected (4, 3)");
  std::filesystem::resize_file(paths_[0], 4100);
  EXPECT_ERROR(table.Load(0, checksum), kCorrupt, "4100 bytes");
}

// A kill during the creation of the spare slot left an incomplete file, and every later commit failed on it.
TEST_F(RelationTableTest, WritesOverAHalfMadeFile) {
  RelationTable table = Make(4, 4);
  Fill(table, 1);
  for (const std::size_t size : {0U, 100U, 4096U, 4100U}) {
    WriteFileBytes(paths_[1], std::string(size, '\0'));
    ASSERT_OK_AND_ASSIGN(const std::uint64_t checksum, table.Write(1, true));
    EXPECT_OK(table.Load(1, checksum));
  }
}

}  // namespace
}  // namespace octavo
