// Import: makes a graph folder from edge lists (formats: format/cells.h, format/array_header.h,
// format/graph_description.h).
//
// Text is parsed in parallel, names become ids (the rank of their hash), edges go to cells. The bytes of the files do
// not depend on the number of threads or the memory; except for the line counts in graph.json, they do not depend on
// the order of the input lines either. In memory an edge takes 16 bytes, a name up to 84 bytes, plus its text if longer
// than 20 bytes. What does not fit goes through temporary files beside the graph (spilled_import.h): about 40 bytes per
// edge, and the names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "import/import_options.h"
#include "io/atomic_file.h"

namespace octavo {

struct ImportProgress {
  std::string_view stage;         // "reading", "ranking", "encoding" or "writing"
  std::string_view unit;          // of done and total: "edges" or "names"
  std::uint64_t done = 0;         // in this stage
  std::uint64_t total = 0;        // 0 while unknown
  std::uint64_t bytes = 0;        // compressed, read so far
  std::uint64_t total_bytes = 0;  // 0 if an input is a pipe
  double seconds = 0;             // in this stage
};

// Makes the graph folder. `progress` may be empty; one thread at a time calls it, not always the same. An error
// leaves nothing new under the folder's name. A memory limit that is too small is a usage error before any work.
// Runs on TBB's workers and a reading thread. With `unnamed` the graph is complete on return but has not been renamed
// to its final name: the caller commits the returned folder.
absl::StatusOr<ImportSummary> Import(const ImportOptions& options,
                                     const std::function<void(const ImportProgress&)>& progress = nullptr,
                                     std::optional<AtomicFolder>* unnamed = nullptr);

}  // namespace octavo
