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

// Creates the file with a header and zeros, and all its disk space reserved. Replaces an existing file. After an error
// no file is left. With `sparse` no space is reserved: the file is a hole.
absl::StatusOr<File> CreateTableFile(const std::filesystem::path& path, const NpyShape& shape, bool sparse = false);

// Opens the file and checks header and size against `shape`: a truncated, enlarged, foreign or differently shaped file
// is a corrupt-file error that says what was found and expected.
absl::StatusOr<File> OpenTableFile(const std::filesystem::path& path, const NpyShape& shape, bool writable);

// Opens, for writing, a slot that no manifest names. Its contents are not needed, so if it is missing or incomplete
// (killed during its creation) it is created anew.
absl::StatusOr<File> OpenSpareTableFile(const std::filesystem::path& path, const NpyShape& shape, bool sparse = false);

// Returns the shape that the file's header declares, after checking the file's size against it.
absl::StatusOr<NpyShape> ReadTableShape(const std::filesystem::path& path);

// Returns the error of rows whose XXH3-64 is not the expected one: a corrupt-file error with the file, `what` the rows
// are, and the byte at which they begin.
absl::Status ChecksumError(const File& file, std::string_view what, std::uint64_t offset, std::uint64_t found,
                           std::uint64_t expected);

// Returns where row `row` begins. REQUIRES: row <= shape.rows
inline std::uint64_t RowOffset(const NpyShape& shape, std::uint64_t row) {
  return kNpyHeaderBytes + row * shape.row_bytes();
}

}  // namespace octavo
