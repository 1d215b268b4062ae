// Which partitions of the tables an epoch has in memory, and when. Recomputed from the plan (plan/epoch_plan.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "format/manifest.h"
#include "graph/cell_reader.h"
#include "run/options.h"

namespace octavo {

struct Residency {
  // Fine partitions of the graph that are loaded together, and when they are in memory: spans [from, to) as shares of
  // the epoch's edges, ascending and not empty.
  struct Partition {
    std::uint64_t fine_partitions = 0;
    std::vector<std::pair<double, double>> spans;
  };
  std::uint64_t epoch = 0;                 // from 1
  std::uint64_t resident = 0;              // partitions in memory at the same time
  std::uint64_t loads = 0;                 // exchanges of partitions, after memory is filled
  std::vector<Partition> partitions = {};  // by first use
};

// Returns the residency of the last completed epoch with the division that `progress` records, or of the next epoch if
// there is none. `train` has the graph's training edges.
// REQUIRES: progress.partitions > progress.resident
Residency PlannedResidency(const Progress& progress, const TrainOptions& options, const CellReader& train);

}  // namespace octavo
