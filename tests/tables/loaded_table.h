// A small table of zeros for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tables/mmap_manager.h"
#include "tables/table_file.h"
#include "tests/support/expect_status.h"

namespace octavo {

// In `folder`, of partitions of 1,024 rows, all of them loaded.
inline std::unique_ptr<MmapManager> MakeLoadedTable(const std::filesystem::path& folder, const std::string& name,
                                                    std::uint64_t rows, std::uint64_t columns,
                                                    NpyElement element = NpyElement::kFloat32) {
  const TableLayout layout{.slots = {folder / (name + ".npy"), folder / (name + ".other.npy")},
                           .shape = {.rows = rows, .columns = columns, .element = element},
                           .partition_rows = 1024};
  EXPECT_OK(CreateTableFile(layout.slots[0], layout.shape));
  absl::StatusOr<std::unique_ptr<MmapManager>> table =
      MmapManager::Open(layout, std::vector<std::uint8_t>((rows + 1023) / 1024, 0));
  EXPECT_OK(table);
  for (std::uint32_t p = 0; p < (*table)->partition_count(); ++p) {
    EXPECT_OK((*table)->LoadPartition(static_cast<PartitionId>(p)));
  }
  return *std::move(table);
}

}  // namespace octavo
