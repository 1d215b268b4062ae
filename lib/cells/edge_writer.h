// Writes train.cells, valid.cells and test.cells.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/cell_sorter.h"
#include "cells/cell_stream.h"
#include "cells/run_reduction.h"
#include "cells/spill_file.h"
#include "format/cells.h"
#include "format/paths.h"

namespace octavo {

struct EdgeWriterOptions {
  bool merge_duplicates = true;
  std::uint64_t work_bytes = UINT64_MAX;                // for what is held beside the edges, and for buffers
  std::function<bool()> stop{};                         // may be empty; asked between cells
  std::function<void(std::uint64_t edges)> progress{};  // may be empty; from one thread at a time
};

// Orders, deduplicates and writes all cells, several at a time, and gives their memory back; the bytes depend on the
// edges alone. `layout` gives the headers everything but counts and checksums.
absl::StatusOr<WrittenEdges> WriteEdges(const GraphPaths& paths, SortedEdges& edges, const CellsHeader& layout,
                                        const EdgeWriterOptions& options);

// What the indexes of the files hold while so many edges are written.
std::uint64_t IndexBytes(std::uint64_t edges);

// How many runs, with so many edges together, can be merged at once within `work_bytes`; the last merge has the indexes
// beside it. Its share is below 2 where they leave no room.
RunLimits EdgeRunLimits(std::uint64_t work_bytes, std::uint64_t edges);

// The same for edges that stand in `runs` of a spill file, each in the order of cells and OrderedBefore. Runs that are
// too many for one merge are merged into longer ones at the end of `file` first. REQUIRES: EdgeRunLimits(...).most >= 2
absl::StatusOr<WrittenEdges> WriteRuns(const GraphPaths& paths, SpillFile& file, std::vector<SpillExtent> runs,
                                       const CellsHeader& layout, const EdgeWriterOptions& options);

}  // namespace octavo
