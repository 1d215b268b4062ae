#include "train/batch_schedule.h"

#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "optimize/optimizer.h"
#include "train/divergence.h"

namespace octavo {
namespace {

// The sum of the losses of the batch's chunks, or the error of the first one that failed.
absl::StatusOr<ChunkLoss> LossOf(std::span<const ChunkResult> results) {
  ChunkLoss sum;
  for (const ChunkResult& result : results) {
    if (!result.status.ok()) return result.status;
    sum.loss += result.loss.loss;
    sum.penalty += result.loss.penalty;
  }
  return sum;
}

}  // namespace

BatchSchedule::BatchSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : options_(options),
      graph_(graph),
      tables_(tables),
      optimizer_(options.optimizer_spec()),
      work_(options, graph, tables.embeddings, tables.relations, tables.frozen, tables.places, tables.answers),
      relation_gradients_(tables.relations.rows(), tables.relations.columns()),
      workers_([this] { return Worker(options_, graph_.node_count()); }) {}

absl::StatusOr<ChunkLoss> BatchSchedule::Train(const BatchTask& task) {
  last_ = task.place;
  const std::size_t chunks = work_.ChunkCount(task.edges.size());
  if (results_.size() < chunks) results_.resize(chunks);
  const std::span<ChunkResult> results = std::span(results_).first(chunks);
  // With async each worker reads rows, computes and updates on its own, under the locks of stripes. Otherwise all
  // chunks read the rows as they were before the batch, and the barrier between the two blocks below keeps every update
  // after every read.
  const bool async = options_.schedule == Schedule::kAsync;
  // Updates the row of a node by its summed gradient. Any thread.
  const auto update = [&](std::span<const float> gradient, std::span<float> row, std::span<float> state) {
    const bool finite = UpdateRow(optimizer_, task.learning_rate, task.step, gradient, row, state);
    if (!finite) finite_.store(false, std::memory_order_relaxed);
  };
  {
    const Stopwatch watch(times_.compute_seconds);
    if (absl::Status status = Draw(task, results); !status.ok()) return status;
    if (async) {
      ComputeAndUpdate(task, results, update);
    } else {
      ParallelBoth([&] { Compute(results); }, [&] { OrderNodes(results); });
    }
  }
  absl::StatusOr<ChunkLoss> loss = LossOf(results);
  if (!loss.ok()) return loss;
  // Rows of nodes and of relations are in different tables, so both are updated at the same time.
  const Stopwatch watch(times_.apply_seconds);
  absl::Status status;
  if (async) {
    UpdateRelations(task, results);
  } else {
    ParallelBoth([&] { status = UpdateNodes(task, update); }, [&] { UpdateRelations(task, results); });
  }
  if (!status.ok()) return status;
  return loss;
}

// Each chunk draws its negatives and gets a block of the gradients' file for its gradients.
absl::Status BatchSchedule::Draw(const BatchTask& task, std::span<ChunkResult> results) {
  ParallelEach(0, results.size(), [&](std::size_t c) { work_.Draw(task.place, task.edges, c, results[c]); });
  // The shapes of all chunks are known now, and with them the size of each block.
  floats_.clear();
  for (const ChunkResult& result : results) floats_.push_back(BlockFloats(options_, result.shape));
  RETURN_IF_ERROR(tables_.gradients.BeginBatch(floats_));
  for (std::size_t c = 0; c < results.size(); ++c) work_.TakeBlock(tables_.gradients.block(c), results[c]);
  return absl::OkStatus();
}

// Copies the rows of each chunk and computes it.
void BatchSchedule::Compute(std::span<ChunkResult> results) {
  const std::size_t pieces = PiecesOf(options_, results.size());
  if (pieces > 1) return ComputeInPieces(pieces, results);
  ParallelEach(0, results.size(), [&](std::size_t c) {
    Worker& worker = workers_.local();
    work_.Gather(worker.rows, results[c]);
    work_.Compute(worker.rows, worker.kernel, results[c]);
  });
}

// The same for few chunks: several threads compute a chunk, each some of its queries.
void BatchSchedule::ComputeInPieces(std::size_t pieces, std::span<ChunkResult> results) {
  shared_rows_.resize(std::max(shared_rows_.size(), results.size()));
  ParallelEach(0, results.size(), [&](std::size_t c) {
    work_.Gather(shared_rows_[c], results[c]);
    results[c].pieces.assign(pieces, {});
  });
  ParallelEach(0, results.size() * pieces, [&](std::size_t i) {
    const std::size_t c = i / pieces;
    work_.ComputePiece(shared_rows_[c], i % pieces, workers_.local().kernel, results[c]);
  });
  // In the order of the pieces, so that the sum of the losses does not depend on the threads.
  for (ChunkResult& result : results) work_.Conclude(result);
}

// Call it after Draw; the gradients may be computed concurrently. One thread.
void BatchSchedule::OrderNodes(std::span<const ChunkResult> results) {
  GradientsByNode& batch = tables_.gradients.batch();
  for (const ChunkResult& result : results) work_.ListNodes(result, batch);
  batch.Order();
}

// Sums the ordered gradients and updates the rows of nodes; in a window of batches only after the last one.
absl::Status BatchSchedule::UpdateNodes(const BatchTask& task, RowUpdate update) {
  if (options_.accumulate > 1) {
    RETURN_IF_ERROR(tables_.gradients.Accumulate());
    if (!task.ends_window) return absl::OkStatus();
  }
  RETURN_IF_ERROR(tables_.gradients.Apply(update, tables_.embeddings, tables_.optimizer, RoundingOf(task)));
  NoteBrokenRows(task);
  return absl::OkStatus();
}

// Each worker handles whole chunks, from copying rows to updating them.
void BatchSchedule::ComputeAndUpdate(const BatchTask& task, std::span<ChunkResult> results, RowUpdate update) {
  ParallelEach(0, results.size(), [&](std::size_t c) {
    Worker& worker = workers_.local();
    work_.Gather(worker.rows, results[c]);
    work_.Compute(worker.rows, worker.kernel, results[c]);
    if (!results[c].status.ok()) return;
    // Each row is locked once for all gradients of this chunk that it has.
    worker.gradients.Clear();
    work_.ListNodes(results[c], worker.gradients);
    worker.gradients.Order();
    results[c].status = tables_.gradients.UpdateUnderLocks(worker.gradients, update, tables_.embeddings,
                                                           tables_.optimizer, RoundingOf(task));
  });
  NoteBrokenRows(task);
}

// Adds the batch's gradients of relations to the window; after the window's last batch updates the relations.
void BatchSchedule::UpdateRelations(const BatchTask& task, std::span<const ChunkResult> results) {
  relation_contributions_.clear();
  for (const ChunkResult& result : results) work_.ListRelations(result, relation_contributions_);
  relation_gradients_.Accumulate(relation_contributions_);
  if (!task.ends_window) return;
  const float rate = task.learning_rate * static_cast<float>(options_.relation_rate_factor);
  relation_gradients_.ApplyAndZero(optimizer_, rate, task.step, tables_.relations, tables_.relation_optimizer);
}

void BatchSchedule::NoteBrokenRows(const BatchTask& task) {
  if (!finite_.load(std::memory_order_relaxed) && !broken_place_) broken_place_ = task.place;
}

absl::Status BatchSchedule::CheckRows() const {
  return CheckRowsFinite(graph_, tables_.embeddings, tables_.relations, work_.resident_nodes(),
                         broken_place_.has_value(), broken_place_.value_or(last_));
}

}  // namespace octavo
