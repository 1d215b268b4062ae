// Streams a table of vectors into a file, in bounded memory.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "export/output_file.h"
#include "export/vector_formats.h"
#include "export/vector_table.h"

namespace octavo {

struct WriteOptions {
  VectorFormat format = VectorFormat::kNpy;
  bool normalize = false;         // divide each row by its Euclidean norm; a row of zeros stays
  std::uint64_t block_bytes = 0;  // of rows read at a time; 0: 8 MiB. All in all 16 times as much is held for text.
  // Called with the rows written so far, from the calling thread.
  std::function<void(std::uint64_t)> progress = {};
};

struct WriteReport {
  std::uint64_t names_changed = 0;  // names that the format cannot hold as they are
};

// Appends header and rows to `output`, in row order; formats in parallel on TBB. Does not commit.
absl::StatusOr<WriteReport> WriteVectors(const VectorTable& table, const WriteOptions& options, OutputFile& output);

// Appends the name of each row, one a line, in row order. Does not commit.
absl::Status WriteNames(const VectorTable& table, OutputFile& output);

}  // namespace octavo
