// The order in which an epoch visits the edges, as a pure function of graph, seed, epoch and plan.
//
// Each state of the plan trains some cells. Their blocks are put in a random order for each epoch, and the resulting
// sequence of edges is cut three times:
//
//   pool     the edges that are read and shuffled together: about kPoolEdges; the bits depend on it
//   window   a piece of a shuffled pool, handed to the training as a whole: about kWindowEdges
//   batch    a piece of a window
//
// So an epoch reads each block once (twice where a pool ends in it), a pool mixes the edges of many cells, and a graph
// of more than 32,768 edges has several windows. Pools and windows hold whole batches; the last ones of a state, and
// the last window of a pool, are shorter.
//
// Grouped, a pool holds the entries of prefetch/query_groups.h instead, two of each edge. A batch has as many edges as
// without groups, so twice as many entries; a group can end in the next batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/cell_reader.h"
#include "plan/epoch_plan.h"

namespace octavo {

inline constexpr std::uint64_t kPoolEdges = std::uint64_t{1} << 19;
// Small enough that a graph of 100,000 edges has several windows, large enough that handing one over costs nothing.
// The bits do not depend on it.
inline constexpr std::uint64_t kWindowEdges = std::uint64_t{1} << 15;

// The settings that the orders of all epochs of a training share.
struct OrderSettings {
  std::uint64_t seed = 0;
  std::uint64_t batch_edges = 1;                // more than 0
  std::optional<std::uint32_t> inverse_offset;  // edges are grouped, and r^-1 is r + inverse_offset
  std::uint64_t pool_edges = kPoolEdges;        // rounded up to whole batches
  std::uint64_t window_edges = kWindowEdges;    // the same

  std::uint64_t EntriesPerEdge() const { return inverse_offset ? 2 : 1; }
};

// The sizes of the largest pool and the largest window for so many edges; the window is no larger than the pool. Both
// are whole batches, so they can be more than the edges.
struct OrderSizes {
  std::uint64_t pool_edges = 0;
  std::uint64_t window_edges = 0;
};
OrderSizes SizesFor(const OrderSettings& settings, std::uint64_t edges);

// Constant. All positions in pools and windows count entries: edges, or if grouped two per edge.
class EpochOrder {
 public:
  // The place of a batch: `entries` entries of window `window`, from entry `first` on.
  struct BatchPlace {
    std::uint64_t window = 0;
    std::uint64_t first = 0;
    std::uint64_t entries = 0;
  };
  // The place of a window: `entries` entries of pool `pool`, which has `pool_entries`, from entry `first` on.
  struct WindowPlace {
    std::uint64_t pool = 0;
    std::uint64_t first = 0;
    std::uint64_t entries = 0;
    std::uint64_t pool_entries = 0;
  };
  // `edges` edges of block `block` from edge `first` on.
  struct BlockPart {
    std::uint32_t block = 0;
    std::uint32_t first = 0;
    std::uint32_t edges = 0;
  };

  // Bytes for each state of the plan, with one pool, and for each block of the graph.
  static constexpr std::uint64_t kStateBytes = 40;
  static constexpr std::uint64_t kBlockBytes = sizeof(std::uint32_t);

  // Draws the order of epoch `epoch`, whose states are those of `plan`. `cells` must outlive this.
  EpochOrder(const CellReader& cells, const OrderSettings& settings, std::uint64_t epoch, const EpochPlan& plan);

  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t batch_count() const { return states_.back().first_batch; }
  std::uint64_t window_count() const { return states_.back().first_window; }
  // The first batch of a state; batch_count() after the last one. REQUIRES: state <= states of the plan
  std::uint64_t FirstBatch(std::size_t state) const { return states_[state].first_batch; }
  // The state that trains the batch. REQUIRES: batch < batch_count()
  std::size_t StateOf(std::uint64_t batch) const;
  // The same for a window. REQUIRES: window < window_count()
  std::size_t StateOfWindow(std::uint64_t window) const;
  // REQUIRES: batch < batch_count()
  BatchPlace PlaceOf(std::uint64_t batch) const;
  // REQUIRES: window < window_count()
  WindowPlace PlaceOfWindow(std::uint64_t window) const;

  // The edges of a pool before they are shuffled. REQUIRES: the pool has a window
  std::vector<BlockPart> PartsOfPool(std::uint64_t pool) const;

  // Whether both visit the same edges of the same file in the same order. REQUIRES: the same cells and settings
  friend bool operator==(const EpochOrder& a, const EpochOrder& b) {
    return a.epoch_ == b.epoch_ && a.states_ == b.states_ && a.blocks_ == b.blocks_;
  }

 private:
  // Where the edges of a state begin in the epoch's order; an additional element marks the end.
  struct StateBegin {
    std::uint64_t first_edge = 0;
    std::uint64_t first_pool = 0;
    std::uint64_t first_window = 0;
    std::uint64_t first_batch = 0;
    friend bool operator==(const StateBegin&, const StateBegin&) = default;
  };

  // Where a pool begins: after `skipped` edges of blocks_[block].
  struct PoolBegin {
    std::uint32_t block = 0;
    std::uint32_t skipped = 0;
  };
  static_assert(sizeof(StateBegin) + sizeof(PoolBegin) == kStateBytes);

  // Edges [begin, end) of the epoch.
  struct EdgeRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  void EndState(std::size_t first_block);
  std::size_t StateWith(std::uint64_t index, std::uint64_t StateBegin::*first) const;
  EdgeRange EdgesOfPool(std::uint64_t pool) const;

  const CellReader& cells_;
  const std::uint64_t epoch_;
  const std::uint64_t batch_edges_;
  const OrderSizes sizes_;
  const std::uint64_t windows_per_pool_;
  const std::uint64_t entries_per_edge_;
  std::vector<StateBegin> states_;
  std::vector<PoolBegin> pools_;
  std::vector<std::uint32_t> blocks_;  // in the epoch's order
};

}  // namespace octavo
