// `sync`: fork and join (train/batch_schedule.h).
#pragma once

#include <vector>

#include "train/batch_schedule.h"

namespace octavo {

class SyncSchedule final : public BatchSchedule {
 public:
  SyncSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables);

  absl::StatusOr<ChunkLoss> Train(const BatchTask& task) override;
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  // Brings the gradients of nodes together: in the order of rows or, in a window of batches, in its sums.
  absl::Status OrderNodes(const BatchTask& task, std::span<const ChunkResult> results);
  absl::Status UpdateNodes(const BatchTask& task);

  std::vector<ChunkResult> results_;  // chunk i writes results_[i] only
  std::vector<Contribution> contributions_;
  ContributionsByNode by_node_;  // of a window of one batch, which needs no accumulator
};

}  // namespace octavo
