#include "train/pipelined_schedule.h"

#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

PipelinedSchedule::PipelinedSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : BatchSchedule(options, graph, tables) {}

void PipelinedSchedule::OrderPending() {
  if (!has_pending_) return;
  contributions_.clear();
  for (std::size_t c = 0; c < work_.ChunkCount(pending_.edges.size()); ++c) {
    work_.ListNodes(work_.PlaceOf(pending_.place, pending_.edges, c), pending_.results[c], contributions_);
  }
  by_node_.Order(contributions_);
}

absl::Status PipelinedSchedule::UpdateNodes() {
  if (!has_pending_) return absl::OkStatus();
  has_pending_ = false;
  const RowUpdates::Window update = updates_.Begin(pending_.learning_rate, pending_.step);
  RETURN_IF_ERROR(UpdateRows(by_node_, update));
  updates_.End(pending_.place);
  return absl::OkStatus();
}

absl::StatusOr<ChunkLoss> PipelinedSchedule::Train(const BatchTask& task) {
  last_ = task.place;
  const std::size_t chunks = work_.ChunkCount(task.edges.size());
  if (results_.size() < chunks) results_.resize(chunks);
  const std::span<ChunkResult> results = std::span(results_).first(chunks);
  {
    const Stopwatch watch(times_.compute_seconds);
    ParallelBoth([&] { ComputeChunks(task, results); }, [&] { OrderPending(); });
  }
  absl::StatusOr<ChunkLoss> loss = LossOf(results);
  if (!loss.ok()) return loss;
  const Stopwatch watch(times_.apply_seconds);
  CollectRelations(task.place, task.edges, results);
  UpdateRelations(task.learning_rate, task.step);
  if (absl::Status status = UpdateNodes(); !status.ok()) return status;
  pending_.place = task.place;
  pending_.learning_rate = task.learning_rate;
  pending_.step = task.step;
  pending_.edges.assign(task.edges.begin(), task.edges.end());
  pending_.results.swap(results_);
  has_pending_ = true;
  return loss;
}

absl::Status PipelinedSchedule::Finish() {
  const Stopwatch watch(times_.apply_seconds);
  OrderPending();
  return UpdateNodes();
}

}  // namespace octavo
