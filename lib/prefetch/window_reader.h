// Windows of an epoch's edges, cut out of the pool that is in memory.
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
  std::uint64_t read_bytes = 0;  // of the file: of its pool, if this was the first window of it that was asked for
  double seconds = 0;            // that the reading took
};

// One thread at a time. Holds one pool.
class WindowReader {
 public:
  // Of the orders of `settings`. `cells` must outlive this.
  WindowReader(const CellReader& cells, const OrderSettings& settings);

  // Copies window `window` of `order` to `into`. First, if its pool is not the one in memory, reads and shuffles that,
  // and verifies its blocks' checksums. A pool of a single window is read into `into` itself. On an error `into` may
  // have any edges, and the pool is read again. REQUIRES: window < order.window_count()
  absl::Status Read(const EpochOrder& order, std::uint64_t window, EdgeWindow& into);

  // Forgets the pool in memory. Call it when an epoch begins in another order than one that was read from.
  void Forget() { pool_epoch_ = kNone; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  absl::Status ReadPool(const EpochOrder& order, std::uint64_t pool, std::vector<Edge>& entries,
                        std::uint64_t& read_bytes);

  const CellReader& cells_;
  const std::uint64_t seed_;
  const std::uint64_t most_entries_;  // of a pool
  std::optional<QueryGroups> groups_;
  // The pool in memory; none where the epoch is kNone.
  std::uint64_t pool_epoch_ = kNone;
  std::uint64_t pool_number_ = 0;
  std::vector<Edge> pool_;
  // Kept between reads for their memory.
  std::vector<std::byte> scratch_;
  std::vector<Edge> block_edges_;
};

}  // namespace octavo
