#include "base/mutex.h"

#include <mutex>
#include <thread>

#include "gtest/gtest.h"

namespace octavo {
namespace {

// From another thread: a thread must not try a lock that it holds.
bool IsFree(Mutex& mutex) {
  bool free = false;
  std::thread([&] {
    if (!mutex.TryLock()) return;
    const MutexLock lock(mutex, std::adopt_lock);
    free = true;
  }).join();
  return free;
}

TEST(Mutex, TryLockTakesWhatIsFreeAndNothingElse) {
  Mutex mutex;
  EXPECT_TRUE(IsFree(mutex));
  {
    const MutexLock lock(mutex);
    EXPECT_FALSE(IsFree(mutex));
  }
  EXPECT_TRUE(IsFree(mutex));  // the adopting lock has released it too
}

}  // namespace
}  // namespace octavo
