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
  OutputFile* scales = nullptr;   // required for kInt8: receives the scales of the rows, npy '<f4' [rows, 1]
  bool escape_formulas = false;   // names as by EscapeFormula
  bool normalize = false;         // divide each row by its Euclidean norm; rows of zeros stay
  std::uint64_t block_bytes = 0;  // of rows read at a time; 0: 8 MiB. Text formats hold 16 times as much in total.
  // Called with the number of rows written so far, from the calling thread.
  std::function<void(std::uint64_t)> progress = {};
};

struct WriteReport {
  std::uint64_t names_changed = 0;      // names that the format cannot represent unchanged
  std::uint64_t values_overflowed = 0;  // finite values that became infinite as float16
};

// Appends header and rows to `output`, in row order; formats in parallel on TBB. Does not commit. A value that is not
// finite is an error if the format or the element cannot represent it (jsonl, int8).
absl::StatusOr<WriteReport> WriteVectors(const VectorTable& table, const WriteOptions& options, OutputFile& output);

// The format of a file of names: unchanged, one per line; metadata of the Embedding Projector; or a JSON list, the
// entity names of PyTorch-BigGraph.
enum class NamesForm { kLines, kMetadata, kJsonList };

// Appends the name of each row, in row order, and returns how many had to be changed. With `escape_formulas`, metadata
// is written as by EscapeFormula; these changes are not counted. Does not commit.
absl::StatusOr<std::uint64_t> WriteNames(const VectorTable& table, NamesForm form, bool escape_formulas,
                                         OutputFile& output);

}  // namespace octavo
