// Reads the committed rows of a table that has two slots, without changing anything. If memory has room for the table,
// its files are mapped and rows are used in place. Otherwise rows are read in pieces and dropped from the page cache.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/npy_header.h"
#include "io/file.h"
#include "io/file_mapping.h"

namespace octavo {

// The expected checksums of the partitions.
struct ExpectedRows {
  std::vector<std::uint64_t> checksums;  // XXH3-64, one per partition
  // Whether the partition is unchanged since the checksums were read; a training that commits changes it.
  std::function<bool(std::uint64_t partition)> is_current;
};

// Constant after Open, Map, DropBehind and Expect; any thread.
class TableReader {
 public:
  // Opens the slots that `slot_of_partition` names (0 or 1 for each partition of `partition_rows` rows) and checks
  // their headers and sizes against `shape`. Slots that do not cover the rows are a corrupt-file error.
  static absl::StatusOr<TableReader> Open(const std::array<std::filesystem::path, 2>& slots, const NpyShape& shape,
                                          std::uint64_t partition_rows, std::vector<std::uint8_t> slot_of_partition);

  std::uint64_t rows() const { return shape_.rows; }
  std::uint64_t columns() const { return shape_.columns; }
  NpyElement element() const { return shape_.element; }
  std::uint64_t partition_rows() const { return partition_rows_; }

  // Reads rows [first, first + out.size() / columns()) as floats; rows past the end are an error.
  // REQUIRES: out.size() is a multiple of columns()
  absl::Status ReadRows(std::uint64_t first, std::span<float> out) const;

  // Returns rows [first, first + rows) as floats: in the mapping if they are floats in a single mapped file, otherwise
  // read into `buffer`. Valid while the buffer and the mapping are. While a training commits, mapped rows can change to
  // those of a later commit.
  absl::StatusOr<std::span<const float>> Rows(std::uint64_t first, std::uint64_t rows,
                                              std::vector<float>& buffer) const;

  // Sets the checksums for CompareChecksum. Not concurrently with other calls. REQUIRES: a checksum for each partition
  void Expect(ExpectedRows expected) { expected_ = std::move(expected); }
  bool has_checksums() const { return !expected_.checksums.empty(); }
  // Compares `found`, the checksum of all rows of the partition as read, with the expected one. A difference is a
  // corrupt-file error that names file and partition, unless the partition changed meanwhile. REQUIRES: has_checksums()
  absl::Status CompareChecksum(std::uint64_t partition, std::uint64_t found) const;

  // For tables that memory has room for: maps the files. Best effort: without address space, rows are read as before.
  // If a mapped file is truncated, accessing it raises SIGBUS (io/mapped_range.h). Not concurrently with other calls.
  void Map();
  // For tables that memory has no room for: from now on nothing is mapped, and Forget drops what was read. Not
  // concurrently with other calls.
  void DropBehind();
  // Call it when rows [first, first + rows) were read and will not be read again soon. REQUIRES: first + rows <=
  // this->rows()
  void Forget(std::uint64_t first, std::uint64_t rows) const;

 private:
  TableReader(std::array<File, 2> files, const NpyShape& shape, std::uint64_t partition_rows,
              std::vector<std::uint8_t> slot_of_partition);

  absl::Status CheckRows(std::uint64_t first, std::uint64_t rows) const;
  // Returns rows that are all in the partition's file, and starts to read them; empty if the file is not mapped.
  std::span<const std::byte> MappedRows(std::uint64_t partition, std::uint64_t first, std::uint64_t rows) const;

  std::array<File, 2> files_;
  std::array<FileMapping, 2> mappings_;  // after the files
  NpyShape shape_;
  std::uint64_t partition_rows_;
  std::vector<std::uint8_t> slot_of_partition_;
  ExpectedRows expected_;
  bool drop_behind_ = false;
};

}  // namespace octavo
