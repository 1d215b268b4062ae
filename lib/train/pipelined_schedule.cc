#include "train/pipelined_schedule.h"

#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

PipelinedSchedule::PipelinedSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : BatchSchedule(options, graph, tables) {}

void PipelinedSchedule::OrderPending() {
  if (has_pending_) OrderNodes(pending_.place, pending_.edges, std::span(&pending_.result, 1));
}

absl::Status PipelinedSchedule::UpdateNodes() {
  if (!has_pending_) return absl::OkStatus();
  has_pending_ = false;
  const RowUpdates::Window update = updates_.Begin(pending_.learning_rate, pending_.step);
  RETURN_IF_ERROR(UpdateRows(update));
  updates_.End(pending_.place);
  return absl::OkStatus();
}

absl::StatusOr<ChunkLoss> PipelinedSchedule::Train(const BatchTask& task) {
  last_ = task.place;
  const std::span<ChunkResult> results(&result_, 1);
  const Stopwatch watch(times_.compute_seconds);
  const auto begin = [&] {
    DrawChunks(task, results);
    GatherChunks(task, results);
  };
  ParallelBoth(begin, [&] { OrderPending(); });
  absl::StatusOr<ChunkLoss> loss;
  absl::Status status;
  const auto end = [&] {
    ComputeGathered(task, results);
    loss = LossOf(results);
    if (!loss.ok()) return;
    CollectRelations(task.place, task.edges, results);
    UpdateRelations(task.learning_rate, task.step);
  };
  ParallelBoth(end, [&] { status = UpdateNodes(); });
  if (!loss.ok()) return loss;
  if (!status.ok()) return status;
  pending_.place = task.place;
  pending_.learning_rate = task.learning_rate;
  pending_.step = task.step;
  pending_.edges.assign(task.edges.begin(), task.edges.end());
  std::swap(pending_.result, result_);
  has_pending_ = true;
  return loss;
}

absl::Status PipelinedSchedule::Finish() {
  const Stopwatch watch(times_.apply_seconds);
  OrderPending();
  return UpdateNodes();
}

}  // namespace octavo
