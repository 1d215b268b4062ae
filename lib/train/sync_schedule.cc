#include "train/sync_schedule.h"

#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

SyncSchedule::SyncSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : BatchSchedule(options, graph, tables) {}

absl::Status SyncSchedule::UpdateNodes(const BatchTask& task) {
  const RowUpdates::Window update = updates_.Begin(task.learning_rate, task.step);
  if (options_.accumulate == 1) {
    by_node_.Order(contributions_);
    RETURN_IF_ERROR(UpdateRows(by_node_, update));
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
    ComputeChunks(task, results);
  }
  absl::StatusOr<ChunkLoss> loss = LossOf(results);
  if (!loss.ok()) return loss;
  const Stopwatch watch(times_.apply_seconds);
  contributions_.clear();
  for (std::size_t c = 0; c < results.size(); ++c) {
    work_.ListNodes(work_.PlaceOf(task.place, task.edges, c), results[c], contributions_);
  }
  if (options_.accumulate > 1) {
    if (absl::Status status = tables_.gradients.AccumulateBatch(contributions_); !status.ok()) return status;
  }
  CollectRelations(task.place, task.edges, results);
  if (!task.ends_window) return loss;
  if (absl::Status status = UpdateNodes(task); !status.ok()) return status;
  UpdateRelations(task.learning_rate, task.step);
  return loss;
}

}  // namespace octavo
