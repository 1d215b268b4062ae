// `async`: each worker takes a chunk from its rows to its updates (train/batch_schedule.h). Rows that other chunks of
// the batch update meanwhile are read as they are at that moment, each whole: the result depends on time. A row of
// several chunks is updated by each of them, so there are more and smaller updates than in the other schedules.
#pragma once

#include <vector>

#include "oneapi/tbb/enumerable_thread_specific.h"
#include "train/batch_schedule.h"

namespace octavo {

class AsyncSchedule final : public BatchSchedule {
 public:
  AsyncSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables);

  absl::StatusOr<ChunkLoss> Train(const BatchTask& task) override;
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  struct Worker {
    explicit Worker(const TrainOptions& options) : scratch(options) {}
    ChunkRows rows;
    ChunkScratch scratch;
    std::vector<Contribution> contributions;
    ContributionsByNode by_node;
  };

  void TrainChunk(const ChunkPlace& place, const RowUpdates::Window& update, Worker& worker, ChunkResult& result);

  tbb::enumerable_thread_specific<Worker> workers_;
  std::vector<ChunkResult> results_;  // chunk i writes results_[i] only; kept for the relations' gradients
};

}  // namespace octavo
