// One batch of the `sync` schedule: chunks are computed in parallel on worker-local scratch, a barrier, their gradients
// are summed row by row in a fixed order, and the optimizer updates the touched rows.
//
// Deterministic: negatives are drawn by counter (seed, epoch, batch, chunk, side), each chunk computes on its own, and
// the contributions to a row are added in the order of chunk, then place in the chunk. The bits do not depend on the
// number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "graph/graph.h"
#include "model/chunk_kernel.h"
#include "model/negatives.h"
#include "oneapi/tbb/enumerable_thread_specific.h"
#include "tables/mmap_gradient_accumulator.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "train/options.h"
#include "train/relation_gradients.h"

namespace octavo {

// The tables that a batch reads and changes; borrowed for the life of the step.
struct StepTables {
  MmapManager& embeddings;
  MmapManager& optimizer;
  RelationTable& relations;
  RelationTable& relation_optimizer;
  MmapGradientAccumulator& gradients;
};

struct BatchPlace {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
};

struct StepTimes {
  double compute_seconds = 0;  // sampling, gathering, scores and gradients
  double apply_seconds = 0;    // summing gradients and updating rows
};

// One caller; parallel inside.
class BatchStep {
 public:
  BatchStep(const TrainOptions& options, const Graph& graph, const StepTables& tables);

  // Says which nodes are in memory from now on: negatives are drawn from them. All nodes until the first call.
  // REQUIRES: at least one node; ranges ascend
  void SetResidentNodes(std::vector<NodeRange> nodes);

  // Computes the batch and adds its gradients to the window. A loss that is not finite is an error that names batch,
  // relation and nodes; then nothing was added. REQUIRES: batch is not empty; with windows of one batch, Apply was
  // called since the last one
  absl::StatusOr<ChunkLoss> Compute(const BatchPlace& place, std::span<const Edge> batch);

  // Ends the window: updates the touched rows. `step` counts windows from 1.
  absl::Status Apply(float learning_rate, std::uint64_t step);

  // An error that names row and batch where an update made a row infinite or NaN: a finite loss can have such a
  // gradient. Call before a commit, which would keep it for good.
  absl::Status CheckRows() const;

  // Seconds since the last call.
  StepTimes TakeTimes() { return std::exchange(times_, {}); }

 private:
  // What a worker needs for the chunk at hand; allocated once for a size and kept.
  struct Worker {
    explicit Worker(const TrainOptions& options);
    ChunkKernel kernel;
    std::vector<float> heads, tails, relations, head_relations, tail_negatives, head_negatives, weights;
    std::vector<MaskedPair> tail_masks, head_masks;
  };
  // The gradients of one chunk, kept until they are summed.
  struct ChunkResult {
    std::vector<NodeId> tail_negative_ids, head_negative_ids;
    std::vector<float> heads, tails, relations, head_relations, tail_negatives, head_negatives;
    ChunkLoss loss;
    absl::Status status;
  };

  void ComputeChunk(const BatchPlace& place, std::uint64_t chunk, std::span<const Edge> edges,
                    std::span<const Edge> batch, ChunkResult& result);
  void DrawNegatives(const BatchPlace& place, std::uint64_t chunk, std::span<const Edge> batch, ChunkResult& result);
  absl::Status Gather(std::span<const Edge> edges, const ChunkResult& result, Worker& worker);
  ChunkInput InputOf(std::size_t edges, const ChunkResult& result, const Worker& worker) const;
  ChunkGradients GradientsOf(std::size_t edges, ChunkResult& result) const;
  std::uint64_t HeadSideRelation(RelationId relation) const;
  void Collect(std::span<const Edge> batch);
  absl::Status ExplainLoss(const BatchPlace& place, std::span<const Edge> edges, const ChunkResult& result);

  const TrainOptions options_;
  const Graph& graph_;
  const StepTables tables_;
  const ModelSpec model_;
  std::vector<NodeRange> resident_;
  std::size_t negatives_ = 0;  // a side
  RelationGradients relation_gradients_;
  tbb::enumerable_thread_specific<Worker> workers_;
  std::vector<ChunkResult> results_;  // of the batch under way; chunk i writes results_[i] only
  std::vector<Contribution> contributions_;
  std::vector<RelationContribution> relation_contributions_;
  StepTimes times_;
  BatchPlace place_;                        // of the last Compute
  std::optional<BatchPlace> broken_place_;  // of the first update that left a node's row not finite
};

}  // namespace octavo
