// Leaves edges in a spill file as a run that MergeEdges and WriteRuns take.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "cells/cell_sorter.h"
#include "cells/edge_record.h"
#include "cells/spill_file.h"

namespace octavo {

// Sorts the edges, which have final ids, by cell and OrderedBefore and appends them to `file`. `stop`, which may be
// empty, is asked between steps. Nobody else appends meanwhile. Parallel.
absl::StatusOr<SpillExtent> SpillRun(EdgeRuns runs, const PartitionLayout& partitions,
                                     const std::function<bool()>& stop, SpillFile& file);

}  // namespace octavo
