// Writes edges to a spill file as a chunk for MergeEdges and WriteExtents.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "cells/cell_sorter.h"
#include "cells/edge_record.h"
#include "cells/spill_file.h"

namespace octavo {

// Sorts the edges, which have final ids, by cell and OrderedBefore and appends them to `file`. `stop`, which may be
// empty, is checked between steps. Nothing else may append at the same time. Parallel.
absl::StatusOr<SpillExtent> SpillSorted(EdgeChunks chunks, const PartitionLayout& partitions,
                                        const std::function<bool()>& stop, SpillFile& file);

}  // namespace octavo
