// Plans what a training will hold, transfer and take, before it begins.
#pragma once

#include <cstdint>
#include <filesystem>

#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "graph/graph.h"
#include "plan/epoch_plan.h"
#include "run/footprint.h"
#include "run/options.h"
#include "train/loading_choice.h"
#include "train/machine_probe.h"
#include "train/memory_estimate.h"

namespace octavo {

struct TrainingPlan {
  std::uint64_t memory = 0;  // the budget
  PartitionShape shape;      // with lanes that of a lane
  bool hold_all = true;      // all tables stay in memory
  double lane_balance = 1;   // with lanes, as LaneBalance
  LoadingChoice loading;
  MemoryEstimate estimate;
  std::uint64_t largest_partition_bytes = 0;  // the largest partition
  std::uint64_t first_epoch_loads = 0;        // partition loads: the exchanges and the filling of memory
  std::uint64_t epoch_loads = 0;              // in later epochs, which start with what the previous one left in memory
  Traffic first_epoch;                        // including the edges
  Traffic epoch;
  Traffic training;                    // all epochs, making the tables, and moving them back to one file each
  std::uint64_t disk_bytes = 0;        // of the run folder during the training
  std::uint64_t disk_bytes_after = 0;  // and after it
  // Estimated; 0 without rates.
  double epoch_seconds = 0;
  double seconds = 0;
};

// Bytes of all relations with their optimizer state.
std::uint64_t RelationBytes(const TrainOptions& options, const GraphDescription& graph);

// The disk space of a run with these options.
DiskSpace DiskSpaceOf(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& shape);

// Returns the plan for `memory` bytes of a run in `folder`. `rates` may be nullptr. A usage error if the budget is too
// small.
absl::StatusOr<TrainingPlan> PlanTraining(const TrainOptions& options, const Graph& graph, std::uint64_t memory,
                                          int threads, const std::filesystem::path& folder, const MachineRates* rates);

}  // namespace octavo
