// The plan of an epoch with the whole graph in memory.
#pragma once

#include "graph/cell_reader.h"
#include "plan/epoch_plan.h"

namespace octavo {

inline EpochPlan WholePlan(const CellReader& cells) {
  return EpochPlanner(cells.header().partition_count, {1, 1}, BucketOrder::kBeta, 0).Plan(0);
}

}  // namespace octavo
