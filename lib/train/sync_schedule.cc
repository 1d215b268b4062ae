#include "train/sync_schedule.h"

#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

SyncSchedule::SyncSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : BatchSchedule(options, graph, tables) {}

absl::Status SyncSchedule::OrderNodes(const BatchTask& task, std::span<const ChunkResult> results) {
  contributions_.clear();
  for (std::size_t c = 0; c < results.size(); ++c) {
    work_.ListNodes(work_.PlaceOf(task.place, task.edges, c), results[c], contributions_);
  }
  if (options_.accumulate > 1) return tables_.gradients.AccumulateBatch(contributions_);
  by_node_.Order(contributions_);
  return absl::OkStatus();
}

absl::Status SyncSchedule::UpdateNodes(const BatchTask& task) {
  const RowUpdates::Window update = updates_.Begin(task.learning_rate, task.step);
  if (options_.accumulate == 1) {
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
  // What one thread alone can do, ordering, is done beside the relations.
  absl::Status status;
  ParallelBoth([&] { status = OrderNodes(task, results); },
               [&] {
                 CollectRelations(task.place, task.edges, results);
                 if (task.ends_window) UpdateRelations(task.learning_rate, task.step);
               });
  if (status.ok() && task.ends_window) status = UpdateNodes(task);
  if (!status.ok()) return status;
  return loss;
}

}  // namespace octavo
