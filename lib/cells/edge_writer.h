// Writes train.cells, valid.cells and test.cells.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/cell_sorter.h"
#include "cells/cell_spill.h"
#include "cells/cell_stream.h"
#include "cells/extent_reduction.h"
#include "format/cells.h"
#include "format/paths.h"

namespace octavo {

struct EdgeWriterOptions {
  bool merge_duplicates = true;
  std::uint64_t work_bytes = UINT64_MAX;                // for everything held in addition to the edges, and for buffers
  std::function<bool()> stop{};                         // may be empty; checked between cells
  std::function<void(std::uint64_t edges)> progress{};  // may be empty; called by one thread at a time
};

// Sorts, deduplicates and writes all cells, several at a time, and frees their memory. The bytes depend only on the
// edges. `layout` provides the headers except counts and checksums.
absl::StatusOr<WrittenEdges> WriteEdges(const GraphPaths& paths, SortedEdges& edges, const CellsHeader& layout,
                                        const EdgeWriterOptions& options);

// The memory that the indexes of the files need while so many edges of so many partitions are written.
std::uint64_t IndexBytes(std::uint64_t edges, std::uint32_t partitions);

// How many extents, with so many edges together, can be merged at once within `work_bytes`. The last merge also holds
// the indexes. The result is below 2 if they leave no room.
MergeLimits EdgeMergeLimits(std::uint64_t work_bytes, std::uint64_t edges, std::uint32_t partitions);

// A usage error, which asks for a larger --memory, if `work_bytes` are too few to merge so many edges.
absl::Status CheckMergeMemory(std::uint64_t work_bytes, std::uint64_t edges, std::uint32_t partitions);

// The same for the edges of `spill`, after FinishWriting. As many cells as fit are read and written at a time. A cell
// that is too large for that is sorted in pieces, at the end of the spill file, and merged.
// REQUIRES: CheckMergeMemory(...) is OK
absl::StatusOr<WrittenEdges> WriteSpilled(const GraphPaths& paths, CellSpill& spill, const CellsHeader& layout,
                                          const EdgeWriterOptions& options);

}  // namespace octavo
