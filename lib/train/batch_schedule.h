// How batches become updates: three schedules of the same work.
//
//   sync       draw negatives | compute all chunks, and beside it order their gradients by row |
//              sum and update rows, and beside it relations |      (| is a barrier)
//   pipelined  draw negatives, copy rows out, and beside it order the gradients of the batch before |
//              compute, update relations, and beside it sum and update rows by the batch before |
//   async      each chunk: copy rows out, compute, update its rows, under the stripe locks |
//
// What one thread alone can do, ordering, is done beside what many can. Relations are updated between batches in all of
// them: they are never stale. Rows of nodes are one batch stale in `pipelined` (the rows that k+1 computes with lack
// the update by k), and stale by chance in `async`. `pipelined` is `sync` where batches give all threads work: see
// UpdatesLag.
//
// Deterministic, but for `async`: each chunk computes on its own (train/chunk_work.h), and the contributions to a row
// are added in the order of chunk, then place in the chunk. The bits do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/edge.h"
#include "format/known_rows.h"
#include "graph/graph.h"
#include "oneapi/tbb/enumerable_thread_specific.h"
#include "tables/mmap_gradient_accumulator.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "train/chunk_work.h"
#include "train/factored_updates.h"
#include "train/options.h"
#include "train/relation_gradients.h"
#include "train/row_updates.h"

namespace octavo {

// Part of what the bits of `pipelined` depend on, so never to be changed. At a tenth of a second a batch a stop waits
// for some seconds; a cut costs what `sync` pays at each batch.
//
// Where updates lag, the loop calls Finish behind each batch whose number, from 1, this divides, and at the end of a
// state of the partition plan. Commits and stops wait for it: at such a place nothing is under way, so a run that was
// stopped and resumed there has the bits of one that was not.
inline constexpr std::uint64_t kPipelineBatches = 32;

// Whether rows are updated a batch late: in `pipelined`, where one thread alone computes a batch and the others would
// wait. Where a batch is more than one chunk, or one in pieces, there is nothing to win: ordering and updating are on
// all threads then, and what waits for a batch leaves the caches. A function of the options, not of the threads, as the
// bits depend on it.
bool UpdatesLag(const TrainOptions& options);

// The tables that training reads and changes; borrowed for the life of the schedule.
struct StepTables {
  MmapManager& embeddings;
  MmapManager& optimizer;
  RelationTable& relations;
  RelationTable& relation_optimizer;
  MmapGradientAccumulator& gradients;
  const KnownRows* frozen = nullptr;  // rows that no update reaches; null: none
};

struct BatchTask {
  BatchPlace place;
  std::span<const Edge> edges;  // used until the call returns; not empty
  bool ends_window = true;      // rows are updated with this batch; false only with options.accumulate > 1
  float learning_rate = 0;      // of the window that it ends
  std::uint64_t step = 0;       // windows from 1
};

// Seconds of the calling thread.
struct StepTimes {
  double compute_seconds = 0;  // sampling, copying rows, scores and gradients, and what runs beside them
  double apply_seconds = 0;    // summing gradients and updating rows, where nothing else runs beside
};

// One caller; parallel inside.
class BatchSchedule {
 public:
  // `options` and `graph` must outlive it.
  static std::unique_ptr<BatchSchedule> Make(const TrainOptions& options, const Graph& graph, const StepTables& tables);
  virtual ~BatchSchedule() = default;
  BatchSchedule(const BatchSchedule&) = delete;
  BatchSchedule& operator=(const BatchSchedule&) = delete;

  // Says which nodes are in memory from now on: negatives are drawn from them. All nodes until the first call. Not
  // between Train and Finish. REQUIRES: at least one node; ranges ascend
  void SetResidentNodes(std::vector<NodeRange> nodes) { work_.SetResidentNodes(std::move(nodes)); }

  // Computes the batch and, by the schedule, updates rows. A loss that is not finite is an error that names batch,
  // relation and nodes. After an error nothing may follow.
  virtual absl::StatusOr<ChunkLoss> Train(const BatchTask& task) = 0;
  // Ends what is under way. Behind it the tables have every update, and may be committed, evicted or read.
  virtual absl::Status Finish() = 0;

  // An error that names row and batch where an update made a row infinite or NaN. Call before a commit, which would
  // keep it for good.
  absl::Status CheckRows() const;

  // Seconds since the last call.
  StepTimes TakeTimes() { return std::exchange(times_, {}); }

 protected:
  BatchSchedule(const TrainOptions& options, const Graph& graph, const StepTables& tables);

  // Steps of a batch, each on all threads. REQUIRES: one result a chunk
  void DrawChunks(const BatchTask& task, std::span<ChunkResult> results);
  // Copies out the rows of each chunk and computes it.
  void ComputeChunks(const BatchTask& task, std::span<ChunkResult> results);
  // The same in two steps, between which the rows of all chunks are kept.
  void GatherChunks(const BatchTask& task, std::span<ChunkResult> results);
  void ComputeGathered(const BatchTask& task, std::span<ChunkResult> results);
  // Sums the losses of the batch's chunks; an error where one has failed.
  absl::StatusOr<ChunkLoss> LossOf(std::span<const ChunkResult> results) const;
  // Lists the batch's gradients of nodes and, in a window of one batch, orders them by row. Needs what DrawChunks did:
  // the gradients may be computed meanwhile. One thread.
  void OrderNodes(const BatchPlace& place, std::span<const Edge> edges, std::span<const ChunkResult> results);
  // Sums what was ordered, and updates the rows of nodes by it.
  absl::Status UpdateRows(const RowUpdates::Window& update);
  // Adds the batch's gradients of relations to the window.
  void CollectRelations(const BatchPlace& place, std::span<const Edge> edges, std::span<const ChunkResult> results);
  void UpdateRelations(float learning_rate, std::uint64_t step);

  const TrainOptions& options_;
  const Graph& graph_;
  const StepTables tables_;
  ChunkWork work_;
  RowUpdates updates_;
  std::vector<Contribution> contributions_;  // as OrderNodes listed them
  BatchPlace last_;                          // of the last Train
  StepTimes times_;

 private:
  struct Worker {
    explicit Worker(const TrainOptions& options) : scratch(options) {}
    ChunkRows rows;
    ChunkScratch scratch;
  };

  tbb::enumerable_thread_specific<Worker> workers_;
  std::vector<ChunkRows> rows_;  // of GatherChunks
  ContributionsByNode by_node_;
  FactoredUpdates factored_;
  RelationGradients relation_gradients_;
  std::vector<RelationContribution> relation_contributions_;
};

}  // namespace octavo
