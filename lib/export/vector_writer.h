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
  VectorElement element = VectorElement::kFloat32;  // others for kNpy only
  OutputFile* scales = nullptr;   // for kInt8, and there it must be: gets the scales of the rows, npy '<f4' [rows, 1]
  bool normalize = false;         // divide each row by its Euclidean norm; a row of zeros stays
  std::uint64_t block_bytes = 0;  // of rows read at a time; 0: 8 MiB. All in all 16 times as much is held for text.
  // Called with the rows written so far, from the calling thread.
  std::function<void(std::uint64_t)> progress = {};
};

struct WriteReport {
  std::uint64_t names_changed = 0;      // names that the format cannot hold as they are
  std::uint64_t values_overflowed = 0;  // finite values that float16 has made infinite
};

// Appends header and rows to `output`, in row order; formats in parallel on TBB. Does not commit. A value that is not
// finite is an error where the format or the element has no such thing (jsonl, int8).
absl::StatusOr<WriteReport> WriteVectors(const VectorTable& table, const WriteOptions& options, OutputFile& output);

// A file of names: as they are, one a line; as metadata of the Embedding Projector; or as a list of JSON, the entity
// names of PyTorch-BigGraph.
enum class NamesForm { kLines, kMetadata, kJsonList };

// Appends the name of each row, in row order, and returns how many had to be changed. Does not commit.
absl::StatusOr<std::uint64_t> WriteNames(const VectorTable& table, NamesForm form, OutputFile& output);

}  // namespace octavo
