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
  absl::Status UpdateNodes(const BatchTask& task);

  std::vector<ChunkResult> results_;  // chunk i writes results_[i] only
};

}  // namespace octavo
