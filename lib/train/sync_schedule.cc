#include "train/sync_schedule.h"

#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

SyncSchedule::SyncSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : BatchSchedule(options, graph, tables) {}

// In a window of batches gradients are brought together in its sums, otherwise in the order of rows.
absl::Status SyncSchedule::UpdateNodes(const BatchTask& task) {
  if (options_.accumulate > 1) {
    RETURN_IF_ERROR(tables_.gradients.AccumulateBatch(contributions_));
    if (!task.ends_window) return absl::OkStatus();
  }
  const RowUpdates::Window update = updates_.Begin(task.learning_rate, task.step);
  if (options_.accumulate == 1) {
    RETURN_IF_ERROR(UpdateRows(update));
  } else {
    RETURN_IF_ERROR(tables_.gradients.Apply(update, tables_.embeddings, tables_.optimizer, update.rounding));
    tables_.gradients.Zero();
  }
  updates_.End(task.place);
  return absl::OkStatus();
}

absl::StatusOr<ChunkLoss> SyncSchedule::Train(const BatchTask& task) {
  last_ = task.place;
  const std::size_t chunks = work_.ChunkCount(task.edges.size());
  if (results_.size() < chunks) results_.resize(chunks);
  const std::span<ChunkResult> results = std::span(results_).first(chunks);
  {
    const Stopwatch watch(times_.compute_seconds);
    DrawChunks(task, results);
    ParallelBoth([&] { ComputeChunks(task, results); }, [&] { OrderNodes(task.place, task.edges, results); });
  }
  absl::StatusOr<ChunkLoss> loss = LossOf(results);
  if (!loss.ok()) return loss;
  const Stopwatch watch(times_.apply_seconds);
  absl::Status status;
  ParallelBoth([&] { status = UpdateNodes(task); },
               [&] {
                 CollectRelations(task.place, task.edges, results);
                 if (task.ends_window) UpdateRelations(task.learning_rate, task.step);
               });
  if (!status.ok()) return status;
  return loss;
}

}  // namespace octavo
