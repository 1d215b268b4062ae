// The parameters of the relations, or their optimizer state: few rows, all held in memory, with two slots on disk like
// the tables of the nodes.
//
// Threads: the rows are constant while a batch is computed; one caller changes them between batches.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "format/npy_header.h"

namespace octavo {

class RelationTable {
 public:
  // `paths` are the two slots; nothing is read or written yet. Rows are zeros.
  RelationTable(std::array<std::filesystem::path, 2> paths, const NpyShape& shape);

  std::uint64_t rows() const { return shape_.rows; }
  std::size_t columns() const { return shape_.columns; }
  std::span<float> Row(std::uint64_t row) { return {values_.data() + row * shape_.columns, shape_.columns}; }
  std::span<const float> Row(std::uint64_t row) const {
    return {values_.data() + row * shape_.columns, shape_.columns};
  }
  std::span<const float> values() const { return values_; }
  std::span<float> values() { return values_; }

  // Reads slot `slot` and verifies its XXH3-64.
  absl::Status Load(int slot, std::uint64_t expected_checksum);
  // The same for `expected_checksums.size()` equal parts of the rows, each with its own.
  absl::Status Load(int slot, std::span<const std::uint64_t> expected_checksums);
  // The XXH3-64 of each of `parts` equal parts of the rows.
  std::vector<std::uint64_t> Checksums(std::size_t parts) const;
  // Writes all rows to slot `slot`, creating the file if it is missing or incomplete, and returns their XXH3-64. With
  // `sync` the rows are on the disk when it returns.
  absl::StatusOr<std::uint64_t> Write(int slot, bool sync);

 private:
  std::array<std::filesystem::path, 2> paths_;
  NpyShape shape_;
  std::vector<float> values_;
};

}  // namespace octavo
