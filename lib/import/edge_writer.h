// Writes train.cells, valid.cells and test.cells.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/statusor.h"
#include "format/cells.h"
#include "format/paths.h"
#include "import/cell_sorter.h"
#include "import/cell_stream.h"
#include "import/spill_file.h"

namespace octavo {

struct EdgeWriterOptions {
  bool merge_duplicates = true;
  std::uint64_t work_bytes = UINT64_MAX;                // for what is held beside the edges, and for buffers
  std::function<bool()> stop{};                         // may be empty; asked between cells
  std::function<void(std::uint64_t edges)> progress{};  // may be empty; from one thread at a time
};

// Orders, deduplicates and writes all cells, several at a time; the bytes depend on the edges alone. `layout` gives the
// headers everything but counts and checksums.
absl::StatusOr<WrittenEdges> WriteEdges(const GraphPaths& paths, SortedEdges& edges, const CellsHeader& layout,
                                        const EdgeWriterOptions& options);

// How many runs with so many edges together WriteRuns can merge within `work_bytes`.
std::uint64_t MaxMergedRuns(std::uint64_t work_bytes, std::uint64_t edges);

// The same for edges that stand in `runs` of a spill file, each in the order of cells and OrderedBefore.
absl::StatusOr<WrittenEdges> WriteRuns(const GraphPaths& paths, const SpillFile& file,
                                       std::span<const SpillExtent> runs, const CellsHeader& layout,
                                       const EdgeWriterOptions& options);

}  // namespace octavo
