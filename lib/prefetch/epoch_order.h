// The order in which an epoch visits the edges, as a pure function of graph, seed and epoch.
//
// The blocks of the cell file are put in a random order for each epoch, and their edges, end to end, are cut into
// windows of a fixed number of edges, which are shuffled. So an epoch reads each block once (twice where a window's
// border falls into it), a window mixes the edges of many cells, and memory is one window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "graph/cell_reader.h"

namespace octavo {

class EpochOrder {
 public:
  // `cells` must outlive this. REQUIRES: window_edges > 0
  EpochOrder(const CellReader& cells, std::uint64_t seed, std::uint64_t window_edges);

  // Draws the order of epoch `epoch`. Not while a window is read.
  void SetEpoch(std::uint64_t epoch);

  std::uint64_t window_count() const;
  // Edges of window `window`: window_edges but for the last one. REQUIRES: window < window_count()
  std::uint64_t WindowEdges(std::uint64_t window) const;

  // Bytes of blocks read so far. Not while a window is read.
  std::uint64_t bytes_read() const { return bytes_read_; }

  // Reads window `window` of the epoch, shuffled, and verifies its blocks' checksums. One thread at a time.
  absl::Status ReadWindow(std::uint64_t window, std::vector<Edge>& edges);

 private:
  const CellReader& cells_;
  const std::uint64_t seed_;
  const std::uint64_t window_edges_;
  std::uint64_t epoch_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::vector<std::uint32_t> blocks_;      // in the epoch's order
  std::vector<std::uint64_t> first_edge_;  // first_edge_[i] is the place of the first edge of blocks_[i]
  // Kept between reads for their memory.
  std::vector<std::byte> scratch_;
  std::vector<Edge> block_edges_;
};

}  // namespace octavo
