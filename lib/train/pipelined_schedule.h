// `pipelined` where updates lag (train/batch_schedule.h): those by a batch run beside the computing of the next one.
//
//   Train(k):   copy the rows of k                      ||   order the gradients of k-1 by row
//               compute k, update relations by k        ||   update rows by k-1
//   Finish:     order the gradients of k by row, update rows by k
//
// The rows that k computes with are those behind the update by k-2: fixed, so the result is a function of where Finish
// is called, and not of time.
#pragma once

#include <vector>

#include "train/batch_schedule.h"

namespace octavo {

class PipelinedSchedule final : public BatchSchedule {
 public:
  // REQUIRES: UpdatesLag(options), so batches are one chunk
  PipelinedSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables);

  absl::StatusOr<ChunkLoss> Train(const BatchTask& task) override;
  absl::Status Finish() override;

 private:
  // A batch that was computed and has not updated the rows yet.
  struct Pending {
    BatchPlace place;
    float learning_rate = 0;
    std::uint64_t step = 0;
    std::vector<Edge> edges;
    ChunkResult result;
  };

  void OrderPending();
  absl::Status UpdateNodes();

  bool has_pending_ = false;
  Pending pending_;
  ChunkResult result_;  // of the batch under way; changes places with the pending one
};

}  // namespace octavo
