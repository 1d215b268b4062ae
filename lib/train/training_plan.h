// What a training will hold, move and take, before any of it.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "graph/graph.h"
#include "plan/epoch_plan.h"
#include "train/machine_probe.h"
#include "train/memory_estimate.h"
#include "train/options.h"

namespace octavo {

struct TrainingPlan {
  std::uint64_t memory = 0;  // the budget
  PartitionShape shape;
  MemoryEstimate estimate;
  std::uint64_t group_bytes = 0;        // of the largest partition
  std::uint64_t first_epoch_loads = 0;  // of partitions: the exchanges and the filling of memory
  std::uint64_t epoch_loads = 0;        // of later epochs, which begin with what the one before left
  Traffic first_epoch;                  // with the edges
  Traffic epoch;
  Traffic training;                    // all epochs, the making of the tables, and their return to one file each
  std::uint64_t disk_bytes = 0;        // of the run folder while it trains
  std::uint64_t disk_bytes_after = 0;  // and when it is done
  // Expected; 0 without rates.
  double epoch_seconds = 0;
  double seconds = 0;
};

// Bytes of the run folder up to its first commit, while it trains, and when it is done.
struct DiskSpace {
  std::uint64_t beginning = 0;
  std::uint64_t training = 0;
  std::uint64_t after = 0;
};
DiskSpace DiskSpaceOf(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& shape);

// Returns the plan for `memory` bytes. `rates` may be nullptr. A usage error where the budget is too small.
absl::StatusOr<TrainingPlan> PlanTraining(const TrainOptions& options, const Graph& graph, std::uint64_t memory,
                                          int threads, const MachineRates* rates);

}  // namespace octavo
