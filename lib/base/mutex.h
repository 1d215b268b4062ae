// A mutex that works with Clang's thread-safety analysis and with the thread sanitizer. (Distributions compile
// absl::Mutex without the sanitizer's annotations.)
#pragma once

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace octavo {

// A std::mutex with a built-in condition variable: every unlock wakes all waiters, so no caller has to signal.
class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  // Returns at once: false if another thread holds the mutex, or, rarely, spuriously.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return mutex_.try_lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    mutex_.unlock();
    changed_.notify_all();
  }
  // Waits until `holds()` is true. Releases the mutex while waiting; holds it again on return.
  template <typename Condition>
  void Await(const Condition& holds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    std::unique_lock<std::mutex> lock(mutex_, std::adopt_lock);
    changed_.wait(lock, holds);
    lock.release();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  // Adopts a mutex that TryLock has locked.
  MutexLock(Mutex& mutex, std::adopt_lock_t) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) : mutex_(mutex) {}
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace octavo
