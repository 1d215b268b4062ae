// Computes a batch and updates the tables. There are two schedules of the same steps; | is a barrier:
//
//   sync   draw negatives | copy rows and compute, chunk by chunk, and beside it order their gradients by node |
//          sum and update rows, and beside it relations |      (| is a barrier)
//   async  draw negatives | each chunk: copy rows, compute, update its rows, under the stripe locks | update relations
//
// Ordering uses one thread, so it runs concurrently with steps that use many. Both schedules update relations after all
// chunks of a batch, so relations are never stale. In `async` a chunk reads each row, under its lock, as concurrent
// chunks have left it. Each chunk updates its rows, so there are more and smaller updates, and the result depends on
// timing.
//
// `sync` is deterministic: chunks are independent (train/chunk_work.h), and the gradients of a row are added in the
// order of chunk, then place in the chunk. The bits do not depend on the number of threads. `pipelined` is another name
// for `sync`.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/edge.h"
#include "base/per_thread.h"
#include "format/known_rows.h"
#include "graph/graph.h"
#include "run/options.h"
#include "tables/mmap_gradient_accumulator.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "train/answer_weights.h"
#include "train/chunk_work.h"
#include "train/relation_gradients.h"

namespace octavo {

// The tables that training reads and changes. They must outlive the schedule.
struct StepTables {
  MmapManager& embeddings;
  MmapManager& optimizer;
  RelationTable& relations;
  RelationTable& relation_optimizer;
  MmapGradientAccumulator& gradients;
  const KnownRows* frozen = nullptr;       // rows that are never updated; null: none
  const PlaceNodes* places = nullptr;      // for typed negatives; null: they are uniform
  const AnswerWeights* answers = nullptr;  // null: losses have the weights of the edges
};

struct BatchTask {
  BatchPlace place;
  std::span<const Edge> edges;  // used until the call returns; not empty
  bool ends_window = true;      // rows are updated after this batch; false only with options.accumulate > 1
  float learning_rate = 0;      // of the window that the batch ends
  std::uint64_t step = 0;       // number of the window, from 1
};

// Seconds of the calling thread.
struct StepTimes {
  double compute_seconds = 0;  // sampling, copying rows, scores and gradients, and concurrent updates
  double apply_seconds = 0;    // summing gradients and updating rows, if done separately
};

// One caller; parallel inside.
class BatchSchedule {
 public:
  // `options` and `graph` must outlive it.
  BatchSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables);
  BatchSchedule(const BatchSchedule&) = delete;
  BatchSchedule& operator=(const BatchSchedule&) = delete;

  // Sets the nodes in memory, from which negatives are drawn. All nodes until the first call. REQUIRES: at least one
  // node; ranges ascend
  void SetResidentNodes(std::vector<NodeRange> nodes, NodeGroups groups = {}) {
    work_.SetResidentNodes(std::move(nodes), std::move(groups));
  }

  // Computes the batch and updates the rows. A loss that is not finite is an error that names batch, relation and
  // nodes. After an error the schedule must not be used any more. On return the tables have every update, and may be
  // committed, evicted or read.
  absl::StatusOr<ChunkLoss> Train(const BatchTask& task);

  // Returns an error that names row and batch if an update made a row infinite or NaN: a finite loss can have such a
  // gradient. Call it before a commit, which would make the row permanent.
  absl::Status CheckRows() const;

  // Seconds since the last call.
  StepTimes TakeTimes() { return std::exchange(times_, {}); }

 private:
  struct Worker {
    Worker(const TrainOptions& options, std::uint64_t nodes) : kernel(MakeKernel(options, nodes)) {}
    ChunkKernel kernel;
    ChunkRows rows;
    GradientsByNode gradients;  // of the chunk, in async
  };

  // Steps of the schedules above; each but OrderNodes uses all threads, for the results of all chunks.
  absl::Status Draw(const BatchTask& task, std::span<ChunkResult> results);
  void Compute(std::span<ChunkResult> results);
  void ComputeInPieces(std::size_t pieces, std::span<ChunkResult> results);
  void OrderNodes(std::span<const ChunkResult> results);
  absl::Status UpdateNodes(const BatchTask& task, RowUpdate update);
  void ComputeAndUpdate(const BatchTask& task, std::span<ChunkResult> results, RowUpdate update);
  void UpdateRelations(const BatchTask& task, std::span<const ChunkResult> results);

  RowRounding RoundingOf(const BatchTask& task) const { return {.seed = options_.seed, .step = task.step}; }
  void NoteBrokenRows(const BatchTask& task);

  const TrainOptions& options_;
  const Graph& graph_;
  const StepTables tables_;
  const OptimizerSpec optimizer_;
  ChunkWork work_;
  RelationGradients relation_gradients_;
  std::vector<ChunkResult> results_;    // chunk i writes results_[i] only
  std::vector<std::uint64_t> floats_;   // of each chunk's block
  std::vector<ChunkRows> shared_rows_;  // for chunks that are computed in pieces
  std::vector<RelationContribution> relation_contributions_;
  PerThread<Worker> workers_;
  BatchPlace last_;                         // of the last Train
  std::atomic<bool> finite_{true};          // relaxed: read after the loops
  std::optional<BatchPlace> broken_place_;  // the batch of the first update that made a row infinite or NaN
  StepTimes times_;
};

}  // namespace octavo
