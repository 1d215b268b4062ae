// Compares rows that are read in order with the checksums of their partitions.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "io/checksum.h"
#include "tables/table_reader.h"

namespace octavo {

// One thread at a time. `table` must outlive it.
class RowChecks {
 public:
  explicit RowChecks(const TableReader& table) : table_(table) {}

  // Rows [first, first + rows.size() / columns) were read. Compares the checksum of each partition whose rows have all
  // been added, in order (TableReader::CompareChecksum). Partitions that are added in part only are not checked.
  absl::Status Add(std::uint64_t first, std::span<const float> rows);

 private:
  // Adds the rows to the checksum as they are stored.
  void Update(std::span<const float> rows);

  const TableReader& table_;
  StreamingChecksum64 checksum_;
  std::uint64_t begin_ = 0;  // of the rows that the checksum has: the first of a partition,
  std::uint64_t next_ = 0;   // up to here; the same if it has none
};

}  // namespace octavo
