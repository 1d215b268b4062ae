// The files that an import reads, and whether its options fit together.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "import/import_options.h"
#include "parse/input_reader.h"

namespace octavo {

// Returns the cells of `base`, which may be null, and the files of the options, whose patterns are expanded.
absl::StatusOr<std::vector<InputFile>> FilesOf(const ImportOptions& options, const Graph* base);

// Rejects invalid options before any work is done.
absl::Status CheckOptions(const ImportOptions& options, const std::vector<InputFile>& files);

// Returns the size of all files together; 0 if one of them is not a regular file.
std::uint64_t TotalBytes(const std::vector<InputFile>& files);

// Returns `refused`, an error in --columns, with the fields of the first file's first line, which may be the titles
// that were meant. Unchanged if that is not a regular file with lines of fields.
absl::Status WithFirstLine(const absl::Status& refused, const std::vector<InputFile>& files,
                           const LayoutRequest& layout, const InputLimits& limits);

}  // namespace octavo
