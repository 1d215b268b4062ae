// The parameters of the relations and their optimizer state: few rows, held in memory whole, with two slots on disk
// like the tables of the nodes.
//
// Threads: the rows are constant while a batch is computed; they are changed between batches by one caller.
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

  // Reads slot `slot` and compares its XXH3-64.
  absl::Status Load(int slot, std::uint64_t expected_checksum);
  // Writes all rows to slot `slot`, creating the file where it is missing or half-made, and returns their XXH3-64. With
  // `sync` the rows are on the disk when it returns.
  absl::StatusOr<std::uint64_t> Write(int slot, bool sync);

 private:
  std::array<std::filesystem::path, 2> paths_;
  NpyShape shape_;
  std::vector<float> values_;
};

}  // namespace octavo
