// Rows of 32-bit words that a computation writes and reads back: in memory, or in a temporary file without a name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file.h"

namespace octavo {

// Disjoint rows may be written and read by several threads at once. Rows that were not written have any contents, or
// are a corrupt-file error if they lie past the last one written.
class ScratchTable {
 public:
  // In memory. Pages that are never written take none.
  static ScratchTable InMemory(std::uint64_t rows, std::uint64_t width);
  // In a file of `folder`, which loses its name at once: nothing remains of it after a kill. Rows are dropped from the
  // page cache when they were written or read.
  static absl::StatusOr<ScratchTable> InFile(const std::filesystem::path& folder, std::uint64_t rows,
                                             std::uint64_t width);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t width() const { return width_; }
  bool in_file() const { return file_.is_open(); }

  // words: [rows, width()]. REQUIRES: the rows exist
  absl::Status Write(std::uint64_t first, std::span<const std::uint32_t> words);
  absl::Status Read(std::uint64_t first, std::span<std::uint32_t> words) const;

 private:
  ScratchTable(std::uint64_t rows, std::uint64_t width) : rows_(rows), width_(width) {}

  std::uint64_t rows_;
  std::uint64_t width_;
  std::unique_ptr<std::uint32_t[]> memory_;
  File file_;
};

}  // namespace octavo
