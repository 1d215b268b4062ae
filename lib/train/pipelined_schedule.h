// `pipelined`: the update by a batch waits for the next one's rows (train/batch_schedule.h).
//
//   Train(k):   copy rows and compute the chunks of k   ||   order the gradients of k-1 by row
//               update relations by k                   ||   update rows by k-1
//   Finish:     order the gradients of k by row, update rows by k
//
// A batch of few chunks leaves threads idle that could compute, so its rows are kept, and updates run beside it:
//
//   Train(k):   copy the rows of k                            ||   order the gradients of k-1 by row
//               compute the chunks, update relations by k     ||   update rows by k-1
//
// With more chunks that does not pay: all rows would leave the caches before they are used. Either way the rows that k
// computes with are those behind the update by k-2: fixed, so the result is a function of where Finish is called, and
// not of time.
#pragma once

#include <vector>

#include "train/batch_schedule.h"

namespace octavo {

class PipelinedSchedule final : public BatchSchedule {
 public:
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
    std::vector<ChunkResult> results;  // the first ones, of its chunks
  };

  void OrderPending();
  absl::Status UpdateNodes();

  bool has_pending_ = false;
  Pending pending_;
  std::vector<ChunkResult> results_;  // of the batch under way; change places with the pending ones
};

}  // namespace octavo
