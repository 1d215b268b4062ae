// Two buffers: the front one in use, the back one being filled in the background.
//
//   state of the back buffer   PrefetchAsync   filler returns   Swap
//   idle                       -> filling                       error, front intact
//   filling                    error           -> ready         waits, then as ready
//   ready                      error                            -> idle: buffers change places; or, where the filler
//                                                               failed, its error and the front intact
// Double buffering reduces t_fetch + t_compute to the larger of the two, so it gains little if one is much larger.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "prefetch/background_task.h"

namespace octavo {

// One user thread calls everything. The filler runs on the task's thread, or in Load on the user's, never on both at
// once. Destruction waits for a fill under way.
template <typename T>
class DoubleBufferedPrefetcher {
 public:
  // Fills `buffer` with item `item`. It still has the contents of two swaps ago.
  using Fill = std::function<absl::Status(std::uint64_t item, T& buffer)>;

  // The filler uses the back buffer while it is filling; front_ changes only while no fill is under way.
  explicit DoubleBufferedPrefetcher(Fill fill)
      : fills_([this, fill = std::move(fill)](std::uint64_t item) { return fill(item, buffers_[front_ ^ 1]); }) {}

  // Fills on this thread and makes the item the front. Waits for a fill under way and discards it. After an error the
  // front is unchanged.
  absl::Status Load(std::uint64_t item) { return MakeFront(fills_.Run(item)); }

  // Starts filling the back buffer and returns at once. An error if an earlier fill was not swapped yet.
  absl::Status PrefetchAsync(std::uint64_t item) { return fills_.Start(item); }

  // Whether Swap would return without waiting.
  bool BackReady() const { return fills_.Done(); }

  // Waits for the fill and makes the back buffer the front. The waiting counts as a stall.
  absl::Status Swap() { return MakeFront(fills_.Take()); }

  // Waits for a fill under way and discards it.
  void Discard() { fills_.Discard(); }

  // The front buffer; its contents stay until the next Load or Swap.
  const T& Front() const { return buffers_[front_]; }

  // Seconds spent filling, on either thread, and waiting in Swap or filling in Load, since the last call.
  std::pair<double, double> TakeFillAndStallSeconds() { return fills_.TakeWorkAndStallSeconds(); }

 private:
  absl::Status MakeFront(const absl::Status& filled) {
    if (filled.ok()) front_ ^= 1;
    return filled;
  }

  T buffers_[2]{};
  unsigned front_ = 0;
  BackgroundTask fills_;  // last: its thread uses the above
};

}  // namespace octavo
