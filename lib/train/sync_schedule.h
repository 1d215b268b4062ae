// `sync`: fork and join (train/batch_schedule.h).
#pragma once

#include <vector>

#include "oneapi/tbb/enumerable_thread_specific.h"
#include "train/batch_schedule.h"

namespace octavo {

class SyncSchedule final : public BatchSchedule {
 public:
  SyncSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables);

  absl::StatusOr<ChunkLoss> Train(const BatchTask& task) override;
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  struct Worker {
    explicit Worker(const TrainOptions& options) : scratch(options) {}
    ChunkRows rows;
    ChunkScratch scratch;
  };

  std::span<ChunkResult> ComputeChunks(const BatchTask& task);
  absl::Status UpdateNodes(const BatchTask& task);

  tbb::enumerable_thread_specific<Worker> workers_;
  std::vector<ChunkResult> results_;  // chunk i writes results_[i] only
  std::vector<Contribution> contributions_;
  ContributionsByNode by_node_;  // of a window of one batch, which needs no accumulator
};

}  // namespace octavo
