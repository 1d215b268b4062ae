// One slot of a table on disk: a .npy file of rows (format/npy_header.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/npy_header.h"
#include "io/file.h"

namespace octavo {

// Creates the file with all its disk space set aside, a header and zeros. What was there before is replaced. On an
// error nothing is left.
absl::StatusOr<File> CreateTableFile(const std::filesystem::path& path, const NpyShape& shape);

// Opens the file and checks header and size against `shape`: a truncated, enlarged, foreign or differently shaped file
// is a corrupt-file error that says what was found and expected.
absl::StatusOr<File> OpenTableFile(const std::filesystem::path& path, const NpyShape& shape, bool writable);

// Opens, for writing, a slot that no manifest names: what it holds is of no use, so where it is missing or not whole (a
// kill while it was made) it is created anew.
absl::StatusOr<File> OpenSpareTableFile(const std::filesystem::path& path, const NpyShape& shape);

// Returns the shape that the file's header declares, after checking the file's size against it.
absl::StatusOr<NpyShape> ReadTableShape(const std::filesystem::path& path);

// The error of rows that have another XXH3-64 than they should: a corrupt-file error with the file, `what` they are and
// the byte that they begin at.
absl::Status ChecksumError(const File& file, std::string_view what, std::uint64_t offset, std::uint64_t found,
                           std::uint64_t expected);

// Returns where row `row` begins. REQUIRES: row <= shape.rows
inline std::uint64_t RowOffset(const NpyShape& shape, std::uint64_t row) {
  return kNpyHeaderBytes + row * shape.row_bytes();
}

}  // namespace octavo
