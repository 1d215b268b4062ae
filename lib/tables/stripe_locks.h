// Reader-writer locks for the rows of a table: a power-of-two array of spin locks; the hash of a group of 64 rows
// selects its lock.
//
// Locks are taken in the schedule `async`, whose chunks copy rows (shared) and update rows (exclusive) that other
// chunks update concurrently. `sync` takes none: no row is written while chunks copy rows out, a barrier separates that
// from the updates, and then one task updates each row. Optimizer state has no locks: it is used with its node's row,
// under that row's lock.
//
// Rules: hold at most one stripe at a time, so there is no lock order to get wrong; keep sections as short as a row's
// copy or update; no span into a row outlives its lock. tbb::spin_rw_mutex prefers writers, which is acceptable for
// such short sections. Clang checks the rules where methods are annotated (-Werror=thread-safety).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/ids.h"
#include "oneapi/tbb/spin_rw_mutex.h"

namespace octavo {

// tbb::spin_rw_mutex under names and annotations that Clang's analysis knows.
class ABSL_LOCKABLE StripeMutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  void ReaderLock() ABSL_SHARED_LOCK_FUNCTION() { mutex_.lock_shared(); }
  void ReaderUnlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock_shared(); }

 private:
  tbb::spin_rw_mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE WriterStripeLock {
 public:
  explicit WriterStripeLock(StripeMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~WriterStripeLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  WriterStripeLock(const WriterStripeLock&) = delete;
  WriterStripeLock& operator=(const WriterStripeLock&) = delete;

 private:
  StripeMutex& mutex_;
};

class ABSL_SCOPED_LOCKABLE ReaderStripeLock {
 public:
  explicit ReaderStripeLock(StripeMutex& mutex) ABSL_SHARED_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.ReaderLock();
  }
  ~ReaderStripeLock() ABSL_UNLOCK_FUNCTION() { mutex_.ReaderUnlock(); }
  ReaderStripeLock(const ReaderStripeLock&) = delete;
  ReaderStripeLock& operator=(const ReaderStripeLock&) = delete;

 private:
  StripeMutex& mutex_;
};

class StripeLocks {
 public:
  // Rows of one group share a stripe; also the granularity of dirty tracking.
  static constexpr std::uint64_t kGroupRows = 64;
  // 4,096 locks of a cache line each are 256 KiB. A few dozen threads rarely contend for one, and half of them fit a
  // second-level cache.
  static constexpr std::size_t kDefaultStripes = 4096;

  // REQUIRES: stripes is a power of two; or 0, and LockFor is never called
  explicit StripeLocks(std::size_t stripes = kDefaultStripes);

  std::size_t size() const { return stripes_.size(); }

  // Returns the stripe that `node` falls in; any id is allowed, also one past the end of a table.
  std::size_t StripeIndex(NodeId node) const {
    // Fibonacci hashing: the high bits of the product spread neighbouring groups over the array.
    return static_cast<std::size_t>((Value(node) / kGroupRows * 0x9E3779B97F4A7C15ULL) >> shift_) & mask_;
  }

  // Returns the lock of the stripe that `node` falls in. Two nodes may share a stripe, so hold at most one at a time.
  StripeMutex& LockFor(NodeId node) const ABSL_LOCK_RETURNED(stripes_[StripeIndex(node)].mutex) {
    return stripes_[StripeIndex(node)].mutex;
  }

 private:
  // One cache line each, so that two stripes never contend for a line.
  struct alignas(64) Stripe {
    StripeMutex mutex;
  };

  unsigned shift_;
  std::size_t mask_;
  mutable std::vector<Stripe> stripes_;
};

}  // namespace octavo
