#include "train/async_schedule.h"

#include "base/parallel.h"
#include "base/stopwatch.h"

namespace octavo {

AsyncSchedule::AsyncSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : BatchSchedule(options, graph, tables), workers_([this] { return Worker(options_); }) {}

void AsyncSchedule::TrainChunk(const ChunkPlace& place, const RowUpdates::Window& update, Worker& worker,
                               ChunkResult& result) {
  work_.Draw(place, result);
  work_.Gather(place, worker.rows, result);
  work_.Compute(place, worker.rows, worker.scratch, result);
  if (!result.status.ok()) return;
  worker.contributions.clear();
  work_.ListNodes(place, result, worker.contributions);
  worker.by_node.Order(worker.contributions);
  result.status = worker.by_node.CheckRows(tables_.embeddings, tables_.optimizer);
  if (!result.status.ok()) return;
  worker.by_node.UpdateRows(0, worker.by_node.segments().size(), options_.dim, update, tables_.embeddings,
                            tables_.optimizer, update.rounding);
}

absl::StatusOr<ChunkLoss> AsyncSchedule::Train(const BatchTask& task) {
  last_ = task.place;
  const std::size_t chunks = work_.ChunkCount(task.edges.size());
  if (results_.size() < chunks) results_.resize(chunks);
  {
    const Stopwatch watch(times_.compute_seconds);
    const RowUpdates::Window update = updates_.Begin(task.learning_rate, task.step);
    ParallelEach(0, chunks, [&](std::size_t c) {
      TrainChunk(work_.PlaceOf(task.place, task.edges, c), update, workers_.local(), results_[c]);
    });
    updates_.End(task.place);
  }
  const std::span<const ChunkResult> results = std::span(results_).first(chunks);
  absl::StatusOr<ChunkLoss> loss = LossOf(results);
  if (!loss.ok()) return loss;
  const Stopwatch watch(times_.apply_seconds);
  CollectRelations(task.place, task.edges, results);
  UpdateRelations(task.learning_rate, task.step);
  return loss;
}

}  // namespace octavo
