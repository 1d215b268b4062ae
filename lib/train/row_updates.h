// The optimizer's updates of node rows, and which of them broke a row: a finite loss can have a gradient that makes a
// row infinite or NaN.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "model/negatives.h"
#include "tables/bfloat16.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "train/chunk_work.h"
#include "train/options.h"

namespace octavo {

class RowUpdates {
 public:
  explicit RowUpdates(const TrainOptions& options) : optimizer_(options.optimizer_spec()), seed_(options.seed) {}

  // What the rows of one window are updated by: call it from any threads, each row on one. Valid until the next Begin.
  struct Window {
    const OptimizerSpec& optimizer;
    float learning_rate;
    std::uint64_t step;    // windows from 1
    RowRounding rounding;  // of rows that are stored as bf16
    std::atomic<bool>& finite;

    void operator()(std::span<const float> gradient, std::span<float> row, std::span<float> state) const;
  };
  Window Begin(float learning_rate, std::uint64_t step) {
    return {optimizer_, learning_rate, step, {.seed = seed_, .step = step}, finite_};
  }
  // Ends it: a row that was broken since Begin was so by `place`. No thread updates any more.
  void End(const BatchPlace& place);

  // An error that names row and batch where an update made a row of `resident` or a relation infinite or NaN. `last` is
  // the last batch. Call before a commit, which would keep such a row for good.
  absl::Status Check(const Graph& graph, const MmapManager& embeddings, const RelationTable& relations,
                     std::span<const NodeRange> resident, const BatchPlace& last) const;

 private:
  const OptimizerSpec optimizer_;
  const std::uint64_t seed_;
  std::atomic<bool> finite_{true};          // relaxed: read behind the loops' ends
  std::optional<BatchPlace> broken_place_;  // of the first update that left a row not finite
};

}  // namespace octavo
