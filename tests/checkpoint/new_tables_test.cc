#include "checkpoint/new_tables.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/checkpoint/small_run.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPartitionRows = 3000;

class NewTablesTest : public ::testing::Test {
 protected:
  NewTablesTest() {
    shape_.rows = 7001;  // three partitions, the last of 1,001 rows
    shape_.dim = 1000;   // so that a partition takes several steps
    shape_.partition_rows = kPartitionRows;
    shape_.lanes = 1;
  }

  absl::StatusOr<std::vector<std::uint64_t>> Fill(const RowInitializer& initializer, const RowOverlay& overlay) {
    RETURN_IF_ERROR(AllocateTables(paths_, shape_, /*sparse=*/false));
    return FillTable(paths_, TableName::kEmbeddings, {shape_.rows, shape_.dim}, kPartitionRows, initializer, overlay,
                     /*sync=*/false, /*peers=*/nullptr);
  }
  // The bytes of rows [first, last) of the table's file.
  std::string Rows(std::uint64_t first, std::uint64_t last) const {
    const std::uint64_t row_bytes = shape_.dim * sizeof(float);
    return FileBytes(paths_.Table(TableName::kEmbeddings, 0))
        .substr(kNpyHeaderBytes + first * row_bytes, (last - first) * row_bytes);
  }
  float At(std::uint64_t row, std::uint64_t column) const {
    float value = 0;
    std::memcpy(&value, Rows(row, row + 1).data() + column * sizeof(float), sizeof(float));
    return value;
  }

  const TemporaryFolder folder_;
  const RunPaths paths_{folder_.path()};
  RunShape shape_ = SmallShape();
};

TEST_F(NewTablesTest, ChecksumsAreThoseOfEachPartitionsBytes) {
  ASSERT_OK_AND_ASSIGN(const std::vector<std::uint64_t> checksums,
                       Fill([](std::uint64_t row, std::span<float> values) { values[row % 1000] = 1.5F; }, nullptr));
  ASSERT_EQ(checksums.size(), 3U);
  for (std::uint64_t p = 0; p < 3; ++p) {
    const std::string rows = Rows(p * kPartitionRows, std::min((p + 1) * kPartitionRows, shape_.rows));
    EXPECT_EQ(checksums[p], Checksum64(std::as_bytes(std::span(rows)))) << p;
  }
  EXPECT_EQ(At(7000, 0), 1.5F);
  EXPECT_EQ(At(7000, 1), 0);
}

TEST_F(NewTablesTest, AnOverlaySeesEachRowOnceInAscendingOrder) {
  std::uint64_t next = 0;
  std::uint64_t largest = 0;
  ASSERT_OK(Fill([](std::uint64_t row, std::span<float> values) { values[0] = static_cast<float>(row); },
                 [&](std::uint64_t first, std::span<float> values) {
                   EXPECT_EQ(first, next);
                   EXPECT_EQ(values[0], static_cast<float>(first)) << "after the initializer";
                   next = first + values.size() / 1000;
                   largest = std::max<std::uint64_t>(largest, values.size_bytes());
                   values[0] = -1;
                   return absl::OkStatus();
                 })
                .status());
  EXPECT_EQ(next, shape_.rows);
  EXPECT_LE(largest, kFillStepBytes);
  EXPECT_EQ(At(0, 0), -1);
  EXPECT_EQ(At(1, 0), 1);
}

TEST_F(NewTablesTest, AnErrorOfTheOverlayEndsTheFilling) {
  EXPECT_ERROR(Fill(nullptr, [](std::uint64_t, std::span<float>) { return CorruptError("vectors: byte 7"); }), kCorrupt,
               "vectors: byte 7");
}

TEST_F(NewTablesTest, SparseTablesOfNodesTakeNoSpace) {
  ASSERT_OK(AllocateTables(paths_, shape_, /*sparse=*/true));
  const fs::path file = paths_.Table(TableName::kEmbeddings, 1);
  EXPECT_EQ(fs::file_size(file), kNpyHeaderBytes + shape_.rows * shape_.dim * sizeof(float));
  struct stat status = {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_LT(static_cast<std::uint64_t>(status.st_blocks) * 512, std::uint64_t{1} << 20);
}

}  // namespace
}  // namespace octavo
