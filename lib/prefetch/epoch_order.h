// The order in which an epoch visits the edges, as a pure function of graph, seed, epoch and plan.
//
// Each state of the plan trains some cells. Their blocks are put in a random order for each epoch, and their edges, end
// to end, are cut into windows of a fixed number of edges, which are shuffled. So an epoch reads each block once (twice
// where a window's border falls into it), a window mixes the edges of many cells, and memory is one window. A window
// holds whole batches; neither windows nor batches cross from one state to the next.
//
// Grouped, a window holds the entries of prefetch/query_groups.h instead, two of each edge. A batch is as many edges as
// without groups, so twice as long; a group can end in the next batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "graph/cell_reader.h"
#include "plan/epoch_plan.h"
#include "prefetch/query_groups.h"

namespace octavo {

class EpochOrder {
 public:
  // Where a batch lies: `edges` entries from `first` on of window `window`.
  struct BatchPlace {
    std::uint64_t window = 0;
    std::uint64_t first = 0;
    std::uint64_t edges = 0;
  };

  // `cells` must outlive this. Windows have at least `window_edges` edges where there are as many, rounded to whole
  // batches. With `inverse_offset` edges are grouped. REQUIRES: batch_edges > 0
  EpochOrder(const CellReader& cells, std::uint64_t seed, std::uint64_t batch_edges, std::uint64_t window_edges,
             std::optional<std::uint32_t> inverse_offset = {});

  // Draws the order of epoch `epoch`, whose states are those of `plan`. Not while a window is read.
  void SetEpoch(std::uint64_t epoch, const EpochPlan& plan);

  std::uint64_t batch_count() const { return states_.back().first_batch; }
  std::uint64_t window_count() const { return states_.back().first_window; }
  // The first batch of a state; batch_count() behind the last one. REQUIRES: state <= states of the plan
  std::uint64_t FirstBatch(std::size_t state) const { return states_[state].first_batch; }
  // The state that trains the batch. REQUIRES: batch < batch_count()
  std::size_t StateOf(std::uint64_t batch) const;
  // REQUIRES: batch < batch_count()
  BatchPlace PlaceOf(std::uint64_t batch) const;

  // Bytes of blocks read so far. Not while a window is read.
  std::uint64_t bytes_read() const { return bytes_read_; }

  // Reads window `window` of the epoch, shuffled, and verifies its blocks' checksums. One thread at a time.
  // REQUIRES: window < window_count()
  absl::Status ReadWindow(std::uint64_t window, std::vector<Edge>& edges);

 private:
  // Where the edges of a state begin in the epoch's order; one more for the end.
  struct StateBegin {
    std::uint64_t first_edge = 0;
    std::uint64_t first_window = 0;
    std::uint64_t first_batch = 0;
  };

  absl::Status ReadEdges(std::uint64_t begin, std::uint64_t end, std::vector<Edge>& edges);
  std::uint64_t EntriesPerEdge() const { return groups_ ? 2 : 1; }
  void AddState(std::uint64_t epoch, std::size_t state, std::span<const CellId> cells);

  const CellReader& cells_;
  const std::uint64_t seed_;
  const std::uint64_t batch_edges_;
  const std::uint64_t window_edges_;          // whole batches
  std::vector<std::uint32_t> first_of_cell_;  // block of each cell, row-major; one more for the end
  std::optional<QueryGroups> groups_;
  std::uint64_t epoch_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::vector<StateBegin> states_;
  std::vector<std::uint32_t> blocks_;      // in the epoch's order
  std::vector<std::uint64_t> first_edge_;  // first_edge_[i] is the place of the first edge of blocks_[i]
  // Kept between reads for their memory.
  std::vector<std::byte> scratch_;
  std::vector<Edge> block_edges_;
};

}  // namespace octavo
