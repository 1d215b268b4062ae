// Two buffers: the front one in use, the back one being filled on a thread of its own (blocking reads do not belong on
// TBB's workers).
//
//   state of the back buffer   PrefetchAsync   filler returns   Swap
//   idle                       -> filling                       error, front intact
//   filling                    error           -> ready         waits, then as ready
//   ready                      error                            -> idle: buffers change places; or, where the filler
//                                                               failed, its error and the front intact
// Double buffering turns t_fetch + t_compute into the larger of the two, so it gains little where one dwarfs the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

// One user thread calls everything; the filler runs on the prefetcher's thread, or on the user's in Load, never on two
// at once. Destruction waits for a fill under way.
template <typename T>
class DoubleBufferedPrefetcher {
 public:
  // Fills `buffer`, which holds what was in it two swaps ago, with item `item`.
  using Fill = std::function<absl::Status(std::uint64_t item, T& buffer)>;

  explicit DoubleBufferedPrefetcher(Fill fill) : fill_(std::move(fill)), thread_([this] { Run(); }) {}

  ~DoubleBufferedPrefetcher() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    thread_.join();
  }
  DoubleBufferedPrefetcher(const DoubleBufferedPrefetcher&) = delete;
  DoubleBufferedPrefetcher& operator=(const DoubleBufferedPrefetcher&) = delete;

  // Fills on this thread and makes the item the front. A fill under way is waited for and thrown away. On an error the
  // front is intact.
  absl::Status Load(std::uint64_t item) {
    Discard();
    const absl::Status status = TimedFill(item);
    if (status.ok()) front_ ^= 1;
    return status;
  }

  // Starts filling the back buffer and returns at once. An error where a fill was asked for and not swapped yet.
  absl::Status PrefetchAsync(std::uint64_t item) {
    const MutexLock lock(mutex_);
    if (state_ != State::kIdle) {
      return absl::FailedPreconditionError("the back buffer is taken: swap before the next prefetch");
    }
    item_ = item;
    state_ = State::kFilling;
    return absl::OkStatus();
  }

  // Whether Swap would return without waiting.
  bool BackReady() const {
    const MutexLock lock(mutex_);
    return state_ == State::kReady;
  }

  // Waits for the fill and makes the back buffer the front. The waiting counts as a stall.
  absl::Status Swap() {
    const auto begin = std::chrono::steady_clock::now();
    const MutexLock lock(mutex_);
    if (state_ == State::kIdle) {
      return absl::FailedPreconditionError("nothing was prefetched: ask for it before the swap");
    }
    mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return state_ == State::kReady; });
    stall_seconds_ += SecondsSince(begin);
    state_ = State::kIdle;
    if (status_.ok()) front_ ^= 1;
    return std::move(status_);
  }

  // Waits for a fill under way and leaves it to Swap. Returns what Swap will.
  absl::Status WaitForFill() {
    const MutexLock lock(mutex_);
    mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return state_ != State::kFilling; });
    return state_ == State::kReady ? status_ : absl::OkStatus();
  }

  // Waits for a fill under way and forgets it.
  void Discard() {
    const MutexLock lock(mutex_);
    if (state_ == State::kIdle) return;
    mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return state_ == State::kReady; });
    state_ = State::kIdle;
  }

  // The front buffer; its contents stay until the next Load or Swap.
  T& Front() { return buffers_[front_]; }
  const T& Front() const { return buffers_[front_]; }

  // Seconds spent filling, on either thread, and waiting in Swap or filling in Load, since the last call.
  std::pair<double, double> TakeFillAndStallSeconds() {
    const MutexLock lock(mutex_);
    return {std::exchange(fill_seconds_, 0.0), std::exchange(stall_seconds_, 0.0)};
  }

 private:
  enum class State { kIdle, kFilling, kReady };

  // Fills the back buffer. What the filler throws must not leave the prefetcher's thread, where nobody could catch it.
  absl::Status GuardedFill(std::uint64_t item) {
    try {
      return fill_(item, buffers_[front_ ^ 1]);
    } catch (const std::bad_alloc&) {
      return RuntimeError("out of memory while reading ahead");
    } catch (const std::exception& error) {
      return RuntimeError(error.what());
    }
  }

  absl::Status TimedFill(std::uint64_t item) {
    const auto begin = std::chrono::steady_clock::now();
    absl::Status status = GuardedFill(item);
    const double seconds = SecondsSince(begin);
    const MutexLock lock(mutex_);
    fill_seconds_ += seconds;
    stall_seconds_ += seconds;
    return status;
  }

  void Run() {
    while (true) {
      std::uint64_t item = 0;
      {
        const MutexLock lock(mutex_);
        mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || state_ == State::kFilling; });
        if (state_ != State::kFilling) return;  // stopping, and nothing left to fill
        item = item_;
      }
      const auto begin = std::chrono::steady_clock::now();
      // front_ does not move while the state is filling, so the back buffer is this thread's alone.
      absl::Status status = GuardedFill(item);
      const MutexLock lock(mutex_);
      fill_seconds_ += SecondsSince(begin);
      status_ = std::move(status);
      state_ = State::kReady;
      if (stopping_) return;
    }
  }

  const Fill fill_;
  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t item_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  double fill_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  double stall_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  // Handed over by state_: the back buffer is the filler's while it is filling, the user's otherwise; front_ changes
  // only on the user's thread while nothing is filled.
  T buffers_[2]{};
  unsigned front_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace octavo
