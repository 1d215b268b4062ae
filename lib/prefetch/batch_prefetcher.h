// The batches of an epoch in their order, read from the cell file one window ahead of the training.
//
// A buffer of the prefetcher is a window of whole batches (prefetch/epoch_order.h), so most batches are already in the
// front buffer, and a swap is needed only at the end of a window. A pool is read and shuffled while the last window of
// the previous pool trains. The first window of the next epoch is read near the end of an epoch and while it is
// committed and validated.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "graph/cell_reader.h"
#include "prefetch/double_buffered_prefetcher.h"
#include "prefetch/epoch_order.h"
#include "prefetch/window_reader.h"

namespace octavo {

// Partitions are loaded ahead except with kOff (TrainOptions::LoadsAhead).
enum class PrefetchMode {
  kOff,   // each window is read when it is needed
  kOn,    // the next window is read while this one trains
  kAuto,  // as kOn while reading takes a share of the time that is worth hiding
};

// The cost of fetching edges.
struct FetchCounts {
  double fetch_seconds = 0;              // reading, on any thread
  double stall_seconds = 0;              // of the user's thread: waiting for reads, or reading
  std::uint64_t windows = 0;             // handed to the user
  std::uint64_t prefetched_windows = 0;  // of these, read ahead
  std::uint64_t read_bytes = 0;          // of the pools of these windows
};

// One user thread.
class BatchPrefetcher {
 public:
  // `cells` must outlive this.
  BatchPrefetcher(const CellReader& cells, const OrderSettings& settings, PrefetchMode mode);

  // Starts epoch `epoch`, divided into the states of `plan`; no batch is current. `next` is the plan of the following
  // epoch. It is null if there is none or it is not known yet; then nothing is read ahead across the end of this epoch.
  // If `plan` differs from the previous call's `next`, edges that were read ahead are discarded.
  void BeginEpoch(std::uint64_t epoch, const EpochPlan& plan, const EpochPlan* next);
  // For each state of the epoch's plan, whether another process trains its batches: they are not read ahead.
  void Skip(std::vector<bool> states) { skipped_ = std::move(states); }

  // Batches of the epoch. The last one of each state may be short. REQUIRES, as all below: BeginEpoch
  std::uint64_t BatchCount() const { return order_->batch_count(); }
  // The first batch of a state of the plan, BatchCount() after the last one; and the state that trains a batch.
  std::uint64_t FirstBatch(std::size_t state) const { return order_->FirstBatch(state); }
  std::size_t StateOf(std::uint64_t batch) const { return order_->StateOf(batch); }

  // Makes `batch` current and, depending on the mode, starts to read the next window. Batches may come in any order,
  // but only the next one in order can have been read ahead. After an error (the batch does not exist, or a read
  // failed) the current batch is unchanged, and the call may be repeated.
  absl::Status Advance(std::uint64_t batch);

  // The current batch's edges; valid until another batch becomes current or the epoch ends. REQUIRES: a batch is
  // current
  std::span<const Edge> Batch() const { return current_; }

  // The counts since the last call.
  FetchCounts TakeCounts();

  // The most bytes that windows and pools take with so many edges; and the orders of two epochs for each state of a
  // plan and each block of edges.
  static std::uint64_t MostBytes(const OrderSettings& settings, std::uint64_t edges);
  static constexpr std::uint64_t kStateBytes = 2 * EpochOrder::kStateBytes;
  static constexpr std::uint64_t kBlockBytes = 2 * EpochOrder::kBlockBytes;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // A window of this epoch or the next.
  struct Request {
    const EpochOrder* order = nullptr;
    std::uint64_t window = kNone;
    friend bool operator==(const Request&, const Request&) = default;
  };

  void Forget();
  absl::Status TurnTo(std::uint64_t window);
  std::uint64_t NextWindow() const;
  absl::Status PrefetchNext();
  void CountTraining();
  bool WorthPrefetching() const;

  const CellReader& cells_;
  const OrderSettings settings_;
  const PrefetchMode mode_;
  std::unique_ptr<const EpochOrder> order_;
  std::unique_ptr<const EpochOrder> next_;  // as passed to BeginEpoch, or null
  std::vector<bool> skipped_;               // states of order_
  std::uint64_t front_window_ = kNone;
  std::span<const Edge> current_;
  FetchCounts counts_;
  // For kAuto: times, mostly of the last two epochs, and when the front window was first used.
  double fetch_seconds_ = 0;
  double train_seconds_ = 0;
  std::chrono::steady_clock::time_point window_begin_{};
  // Used by the filler while it is filling, by the user otherwise.
  Request request_;  // being read, or read and not swapped
  WindowReader reader_;
  DoubleBufferedPrefetcher<EdgeWindow> windows_;  // last: its thread uses the above
};

}  // namespace octavo
