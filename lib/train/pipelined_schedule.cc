#include "train/pipelined_schedule.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

PipelinedSchedule::PipelinedSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : BatchSchedule(options, graph, tables) {}

void PipelinedSchedule::OrderPending() {
  if (!has_pending_) return;
  const std::size_t chunks = work_.ChunkCount(pending_.edges.size());
  OrderNodes(pending_.place, pending_.edges, std::span(pending_.results).first(chunks));
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
  const std::size_t chunks = work_.ChunkCount(task.edges.size());
  if (results_.size() < chunks) results_.resize(chunks);
  const std::span<ChunkResult> results = std::span(results_).first(chunks);
  absl::StatusOr<ChunkLoss> loss;
  absl::Status status;
  const auto end = [&] {
    loss = LossOf(results);
    if (!loss.ok()) return;
    CollectRelations(task.place, task.edges, results);
    UpdateRelations(task.learning_rate, task.step);
  };
  const Stopwatch watch(times_.compute_seconds);
  if (chunks <= kMostChunksInPieces) {
    const auto gather = [&] {
      DrawChunks(task, results);
      GatherChunks(task, results);
    };
    ParallelBoth(gather, [&] { OrderPending(); });
    const auto compute = [&] {
      ComputeGathered(task, results);
      end();
    };
    ParallelBoth(compute, [&] { status = UpdateNodes(); });
  } else {
    const auto compute = [&](absl::FunctionRef<void()> start_update) {
      std::atomic<std::size_t> left = chunks + 1;  // copies of rows, and the order
      const auto arrive = [&] {
        if (left.fetch_sub(1) == 1) start_update();
      };
      ParallelBoth([&] { DrawAndCompute(task, results, arrive); },
                   [&] {
                     OrderPending();
                     arrive();
                   });
      end();
    };
    ParallelThen(compute, [&] { status = UpdateNodes(); });
  }
  if (!loss.ok()) return loss;
  if (!status.ok()) return status;
  pending_.place = task.place;
  pending_.learning_rate = task.learning_rate;
  pending_.step = task.step;
  pending_.edges.assign(task.edges.begin(), task.edges.end());
  pending_.results.swap(results_);
  // Gradients of relations are used already: the next batch has their room, which is in the caches.
  for (std::size_t c = 0; c < std::min(results_.size(), chunks); ++c) {
    std::swap(pending_.results[c].relations, results_[c].relations);
    std::swap(pending_.results[c].head_relations, results_[c].head_relations);
    std::swap(pending_.results[c].all_relations, results_[c].all_relations);
  }
  has_pending_ = true;
  return loss;
}

absl::Status PipelinedSchedule::Finish() {
  const Stopwatch watch(times_.apply_seconds);
  OrderPending();
  return UpdateNodes();
}

}  // namespace octavo
