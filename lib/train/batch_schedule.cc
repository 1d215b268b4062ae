#include "train/batch_schedule.h"

#include "base/parallel.h"
#include "train/async_schedule.h"
#include "train/pipelined_schedule.h"
#include "train/sync_schedule.h"

namespace octavo {

bool UpdatesLag(const TrainOptions& options) {
  return options.schedule == Schedule::kPipelined && options.batch <= options.chunk && PiecesOf(options, 1) == 1;
}

std::unique_ptr<BatchSchedule> BatchSchedule::Make(const TrainOptions& options, const Graph& graph,
                                                   const StepTables& tables) {
  switch (options.schedule) {
    case Schedule::kSync:
      break;
    case Schedule::kPipelined:
      if (UpdatesLag(options)) return std::make_unique<PipelinedSchedule>(options, graph, tables);
      break;
    case Schedule::kAsync:
      return std::make_unique<AsyncSchedule>(options, graph, tables);
  }
  return std::make_unique<SyncSchedule>(options, graph, tables);
}

BatchSchedule::BatchSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : options_(options),
      graph_(graph),
      tables_(tables),
      work_(options, graph, tables.embeddings, tables.relations, tables.frozen),
      updates_(options),
      workers_([this] { return Worker(options_); }),
      factored_(options.dim),
      relation_gradients_(tables.relations.rows(), tables.relations.columns()) {}

void BatchSchedule::DrawChunks(const BatchTask& task, std::span<ChunkResult> results) {
  ParallelEach(0, results.size(),
               [&](std::size_t c) { work_.Draw(work_.PlaceOf(task.place, task.edges, c), results[c]); });
}

void BatchSchedule::GatherChunks(const BatchTask& task, std::span<ChunkResult> results) {
  rows_.resize(std::max(rows_.size(), results.size()));
  ParallelEach(0, results.size(),
               [&](std::size_t c) { work_.Gather(work_.PlaceOf(task.place, task.edges, c), rows_[c], results[c]); });
}

void BatchSchedule::ComputeGathered(const BatchTask& task, std::span<ChunkResult> results) {
  const std::size_t pieces = PiecesOf(options_, results.size());
  const auto place_of = [&](std::size_t chunk) { return work_.PlaceOf(task.place, task.edges, chunk); };
  if (pieces == 1) {
    return ParallelEach(0, results.size(), [&](std::size_t c) {
      work_.Compute(place_of(c), rows_[c], workers_.local().scratch, results[c]);
    });
  }
  ParallelEach(0, results.size(), [&](std::size_t c) { work_.Prepare(place_of(c), pieces, rows_[c], results[c]); });
  ParallelEach(0, results.size() * pieces, [&](std::size_t i) {
    const std::size_t c = i / pieces;
    work_.ComputePiece(place_of(c), rows_[c], i % pieces, workers_.local().scratch, results[c]);
  });
  for (ChunkResult& result : results) work_.Conclude(result);
}

void BatchSchedule::ComputeChunks(const BatchTask& task, std::span<ChunkResult> results) {
  if (PiecesOf(options_, results.size()) > 1) {
    GatherChunks(task, results);
    return ComputeGathered(task, results);
  }
  ParallelEach(0, results.size(), [&](std::size_t c) {
    const ChunkPlace place = work_.PlaceOf(task.place, task.edges, c);
    Worker& worker = workers_.local();
    work_.Gather(place, worker.rows, results[c]);
    work_.Compute(place, worker.rows, worker.scratch, results[c]);
  });
}

absl::StatusOr<ChunkLoss> BatchSchedule::LossOf(std::span<const ChunkResult> results) const {
  ChunkLoss sum;
  for (const ChunkResult& result : results) {
    if (!result.status.ok()) return result.status;
    sum.loss += result.loss.loss;
    sum.penalty += result.loss.penalty;
  }
  return sum;
}

void BatchSchedule::OrderNodes(const BatchPlace& place, std::span<const Edge> edges,
                               std::span<const ChunkResult> results) {
  contributions_.clear();
  for (std::size_t c = 0; c < results.size(); ++c) {
    work_.ListNodes(work_.PlaceOf(place, edges, c), results[c], contributions_);
  }
  if (options_.accumulate == 1) by_node_.Order(contributions_);
}

void BatchSchedule::CollectRelations(const BatchPlace& place, std::span<const Edge> edges,
                                     std::span<const ChunkResult> results) {
  relation_contributions_.clear();
  for (std::size_t c = 0; c < results.size(); ++c) {
    work_.ListRelations(work_.PlaceOf(place, edges, c), results[c], relation_contributions_);
  }
  relation_gradients_.Accumulate(relation_contributions_);
}

void BatchSchedule::UpdateRelations(float learning_rate, std::uint64_t step) {
  const float rate = learning_rate * static_cast<float>(options_.relation_rate_factor);
  relation_gradients_.ApplyAndZero(options_.optimizer_spec(), rate, step, tables_.relations,
                                   tables_.relation_optimizer);
}

absl::Status BatchSchedule::UpdateRows(const RowUpdates::Window& update) {
  MmapManager& rows = tables_.embeddings;
  return KeepsFactors(options_)
             ? factored_.UpdateAllRows(by_node_, update, rows, tables_.optimizer, update.rounding)
             : by_node_.UpdateAllRows(options_.dim, update, rows, tables_.optimizer, update.rounding);
}

absl::Status BatchSchedule::CheckRows() const {
  return updates_.Check(graph_, tables_.embeddings, tables_.relations, work_.resident_nodes(), last_);
}

}  // namespace octavo
