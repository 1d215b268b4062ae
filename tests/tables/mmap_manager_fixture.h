// A table of known values in a temporary folder, for the tests of MmapManager.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "gtest/gtest.h"
#include "tables/mmap_manager.h"
#include "tables/table_file.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {

constexpr PartitionId P(std::uint32_t partition) { return static_cast<PartitionId>(partition); }

// Writes a row as training does.
inline void SetRow(MmapManager& table, std::uint64_t row, float value) {
  const NodeId node{row};
  const WriterStripeLock lock(table.LockFor(node));
  table.UpdateRow(node, {}, {}, [&](std::span<float> values) { std::ranges::fill(values, value); });
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

}  // namespace octavo
