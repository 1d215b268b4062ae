// Parallel loops on TBB. The one place where work is handed to its workers, so that the thread sanitizer, which cannot
// see into the TBB library, is told what the hand-over orders.
#pragma once

#include <cstddef>

#include "oneapi/tbb/blocked_range.h"
#include "oneapi/tbb/global_control.h"
#include "oneapi/tbb/parallel_for.h"
#include "oneapi/tbb/parallel_invoke.h"
#include "oneapi/tbb/task_arena.h"

#if defined(__SANITIZE_THREAD__)
#define OCTAVO_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OCTAVO_THREAD_SANITIZER 1
#endif
#endif

#ifdef OCTAVO_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace octavo {

// What the caller did before the loop happens before every piece; every piece happens before what follows the loop.
class LoopFence {
 public:
#ifdef OCTAVO_THREAD_SANITIZER
  LoopFence() { __tsan_release(&begin_); }
  ~LoopFence() { __tsan_acquire(&end_); }
  void EnterPiece() { __tsan_acquire(&begin_); }
  void LeavePiece() { __tsan_release(&end_); }

 private:
  char begin_ = 0;
  char end_ = 0;
#else
  void EnterPiece() {}
  void LeavePiece() {}
#endif
};

// Calls body(first, last) for disjoint ranges that cover [begin, end), at most `grain` long where TBB splits that far,
// on TBB's workers and this thread, and waits. An exception of the body is thrown again here.
template <typename Body>
void ParallelRanges(std::size_t begin, std::size_t end, std::size_t grain, const Body& body) {
  LoopFence fence;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(begin, end, grain),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      fence.EnterPiece();
                      body(range.begin(), range.end());
                      fence.LeavePiece();
                    });
}

// Calls both, each its own task that may have loops in it, and waits. Where the workers are busy with the pieces of
// one, the other is done by whoever is free first.
template <typename First, typename Second>
void ParallelBoth(const First& first, const Second& second) {
  LoopFence fence;
  const auto fenced = [&fence](const auto& work) {
    fence.EnterPiece();
    work();
    fence.LeavePiece();
  };
  tbb::parallel_invoke([&] { fenced(first); }, [&] { fenced(second); });
}

// Calls work() with `threads` threads for the loops in it, this one among them, also where the machine has fewer, and
// returns what it returns. REQUIRES: threads > 0
template <typename Work>
auto WithThreads(int threads, const Work& work) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  return tbb::task_arena(threads).execute(work);
}

// Calls body(i) for each i in [begin, end), each its own task.
template <typename Body>
void ParallelEach(std::size_t begin, std::size_t end, const Body& body) {
  ParallelRanges(begin, end, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) body(i);
  });
}

}  // namespace octavo
