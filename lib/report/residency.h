// Which partitions of the tables an epoch has in memory, and when: the plan (plan/epoch_plan.h), made again.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "format/manifest.h"
#include "graph/cell_reader.h"
#include "plan/bucket_order.h"

namespace octavo {

struct Residency {
  // Fine partitions of the graph that come and go together, and when they are in memory: [from, to) in shares of the
  // epoch's edges, ascending. Spans are not empty.
  struct Group {
    std::uint64_t partitions = 0;
    std::vector<std::pair<double, double>> spans;
  };
  std::uint64_t epoch = 0;         // from 1
  std::uint64_t resident = 0;      // groups that are in memory together
  std::uint64_t loads = 0;         // exchanges of groups, without the filling of memory
  std::vector<Group> groups = {};  // by when they come first
};

// Returns the residency of the last epoch that was done with the division that `progress` has, or, where there was
// none, of the next one. `train` has the graph's training edges. REQUIRES: progress.partitions > progress.resident
Residency PlannedResidency(const Progress& progress, BucketOrder order, std::uint64_t seed, const CellReader& train);

}  // namespace octavo
