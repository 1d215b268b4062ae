// Reads the committed rows of a table that has two slots, without mapping or changing anything.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/npy_header.h"
#include "io/file.h"

namespace octavo {

// Constant after Open and DropBehind; any thread.
class TableReader {
 public:
  // Opens the slots that `slot_of_partition` names (0 or 1 for each partition of `partition_rows` rows) and checks
  // their headers and sizes against `shape`. Slots that do not cover the rows are a corrupt-file error.
  static absl::StatusOr<TableReader> Open(const std::array<std::filesystem::path, 2>& slots, const NpyShape& shape,
                                          std::uint64_t partition_rows, std::vector<std::uint8_t> slot_of_partition);

  std::uint64_t rows() const { return shape_.rows; }
  std::uint64_t columns() const { return shape_.columns; }
  std::uint64_t partition_rows() const { return partition_rows_; }

  // Reads rows [first, first + out.size() / columns()); rows past the end are an error.
  // REQUIRES: out.size() is a multiple of columns()
  absl::Status ReadRows(std::uint64_t first, std::span<float> out) const;

  // For tables that the page cache must not fill up with: from here on Forget drops what was read. Not beside other
  // calls.
  void DropBehind();
  // Rows [first, first + rows) were read and will not be soon again. REQUIRES: first + rows <= this->rows()
  void Forget(std::uint64_t first, std::uint64_t rows) const;

 private:
  TableReader(std::array<File, 2> files, const NpyShape& shape, std::uint64_t partition_rows,
              std::vector<std::uint8_t> slot_of_partition);

  std::array<File, 2> files_;
  NpyShape shape_;
  std::uint64_t partition_rows_;
  std::vector<std::uint8_t> slot_of_partition_;
  bool drop_behind_ = false;
};

}  // namespace octavo
