// Reads windows of an epoch's edges: copies them from the pool in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "graph/cell_reader.h"
#include "prefetch/epoch_order.h"
#include "prefetch/query_groups.h"

namespace octavo {

struct EdgeWindow {
  std::vector<Edge> edges;       // or entries
  std::uint64_t read_bytes = 0;  // from the file: those of its pool for the pool's first requested window, else 0
  double seconds = 0;            // of reading it
};

// One thread at a time. Holds one pool.
class WindowReader {
 public:
  // Reads orders with `settings`. `cells` must outlive this.
  WindowReader(const CellReader& cells, const OrderSettings& settings);

  // Copies window `window` of `order` to `into`. First, if its pool is not the one in memory, reads and shuffles that,
  // and verifies its blocks' checksums. A pool of a single window is read directly into `into`. After an error `into`
  // may have any edges, and the next call reads the pool again. REQUIRES: window < order.window_count()
  absl::Status Read(const EpochOrder& order, std::uint64_t window, EdgeWindow& into);

  // Forgets the pool in memory. Call it if an epoch begins with an order other than the one that was read ahead.
  void Forget() { pool_epoch_ = kNone; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  absl::Status ReadPool(const EpochOrder& order, std::uint64_t pool, std::vector<Edge>& entries,
                        std::uint64_t& read_bytes);

  const CellReader& cells_;
  const std::uint64_t seed_;
  const std::uint64_t most_entries_;  // of a pool
  std::optional<QueryGroups> groups_;
  // The pool in memory; none if the epoch is kNone.
  std::uint64_t pool_epoch_ = kNone;
  std::uint64_t pool_number_ = 0;
  std::vector<Edge> pool_;
  // Kept between reads to reuse their memory.
  std::vector<std::byte> scratch_;
  std::vector<Edge> block_edges_;
};

}  // namespace octavo
