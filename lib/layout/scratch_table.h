// Rows of 32-bit words that a computation writes and reads back: in memory, or in a temporary file without a name.
#pragma once

#include <atomic>
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
  // In a file of `folder`, which loses its name at once: nothing remains of it after a kill. The page cache keeps about
  // kCachedBytes of what was written or read.
  static absl::StatusOr<ScratchTable> InFile(const std::filesystem::path& folder, std::uint64_t rows,
                                             std::uint64_t width);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t width() const { return width_; }
  bool in_file() const { return file_.is_open(); }

  // words: [rows, width()]. REQUIRES: the rows exist
  absl::Status Write(std::uint64_t first, std::span<const std::uint32_t> words);
  absl::Status Read(std::uint64_t first, std::span<std::uint32_t> words) const;

  static constexpr std::uint64_t kCachedBytes = std::uint64_t{4} << 20;

 private:
  ScratchTable(std::uint64_t rows, std::uint64_t width)
      : rows_(rows), width_(width), moved_(std::make_unique<std::atomic<std::uint64_t>>(0)) {}
  // Counts bytes that were written or read; whether it is time to drop the whole file from the cache.
  bool IsTimeToDrop(std::uint64_t bytes) const;

  std::uint64_t rows_;
  std::uint64_t width_;
  std::unique_ptr<std::uint32_t[]> memory_;
  File file_;
  std::unique_ptr<std::atomic<std::uint64_t>> moved_;  // bytes so far; by a pointer because tables are moved
};

}  // namespace octavo
