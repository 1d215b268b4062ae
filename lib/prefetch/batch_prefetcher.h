// The batches of an epoch in their order, read from the cell file one window ahead of the training.
//
// A buffer of the prefetcher is a window of whole batches (prefetch/epoch_order.h), so most batches are at hand in the
// front buffer and only every few hundredth one is a swap.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "graph/cell_reader.h"
#include "prefetch/double_buffered_prefetcher.h"
#include "prefetch/epoch_order.h"

namespace octavo {

enum class PrefetchMode {
  kOff,   // each window is read when it is needed
  kOn,    // the next window is read while this one trains
  kAuto,  // off until the read of a window was measured to take a part of the training of one that is worth hiding
};

// One user thread.
class BatchPrefetcher {
 public:
  // Windows hold at least `window_edges` edges, rounded to whole batches. With `inverse_offset` edges are grouped
  // (prefetch/epoch_order.h). `cells` must outlive this. REQUIRES: batch_edges > 0
  BatchPrefetcher(const CellReader& cells, std::uint64_t seed, std::uint64_t batch_edges, std::uint64_t window_edges,
                  PrefetchMode mode, std::optional<std::uint32_t> inverse_offset = {});

  // Turns to epoch `epoch`, divided into the states of `plan`. What was prefetched is thrown away; no batch is current.
  void BeginEpoch(std::uint64_t epoch, const EpochPlan& plan);

  // Batches of the epoch, 0 before the first BeginEpoch. The last one of each state may be short.
  std::uint64_t BatchCount() const { return order_.batch_count(); }
  // The first batch of a state of the plan, BatchCount() behind the last one; and the state that trains a batch.
  std::uint64_t FirstBatch(std::size_t state) const { return order_.FirstBatch(state); }
  std::size_t StateOf(std::uint64_t batch) const { return order_.StateOf(batch); }

  // Makes `batch` current: reads its window unless that is the front one. Past the end is an out-of-range error that
  // leaves the current batch as it was.
  absl::Status Load(std::uint64_t batch);

  // Starts reading the window of `batch`, and Swap makes the batch current, waiting for it. Swap with nothing asked for
  // is an error that leaves the current batch as it was.
  absl::Status PrefetchAsync(std::uint64_t batch);
  absl::Status Swap();

  // Makes `batch` current by whichever way is at hand and, by the mode, starts the next window. What a training loop
  // calls.
  absl::Status Advance(std::uint64_t batch);

  // The current batch's edges; valid until another becomes current. REQUIRES: one is
  std::span<const Edge> Batch() const { return current_; }

  // Seconds spent reading, on any thread, and waiting for it, since the last call.
  std::pair<double, double> TakeFetchAndStallSeconds() { return windows_.TakeFillAndStallSeconds(); }
  // Bytes of edges read so far; a read under way is waited for and thrown away.
  std::uint64_t BytesRead();

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  absl::Status CheckBatch(std::uint64_t batch) const;
  std::uint64_t WindowOf(std::uint64_t batch) const { return order_.PlaceOf(batch).window; }
  void MakeCurrent(std::uint64_t batch);
  absl::Status PrefetchWindow(std::uint64_t window);
  bool WorthPrefetching() const;

  const PrefetchMode mode_;
  EpochOrder order_;
  std::uint64_t front_window_ = kNone;
  std::uint64_t asked_window_ = kNone;  // being read, or read and not swapped
  std::uint64_t asked_batch_ = kNone;   // of PrefetchAsync
  std::span<const Edge> current_;
  // For kAuto: the last read of a window, and when the front one came into use.
  double read_seconds_ = 0;
  std::chrono::steady_clock::time_point window_begin_{};
  double train_seconds_ = 0;
  DoubleBufferedPrefetcher<std::vector<Edge>> windows_;  // last: its thread uses order_
};

}  // namespace octavo
