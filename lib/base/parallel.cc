#include "base/parallel.h"

#include <memory>

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
namespace {

// Orders memory for the thread sanitizer: what the caller did before the loop happens before every piece, and every
// piece happens before what follows the loop.
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

}  // namespace

void ParallelRanges(std::size_t begin, std::size_t end, std::size_t grain,
                    absl::FunctionRef<void(std::size_t, std::size_t)> body) {
  LoopFence fence;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(begin, end, grain),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      fence.EnterPiece();
                      body(range.begin(), range.end());
                      fence.LeavePiece();
                    });
}

void ParallelBoth(absl::FunctionRef<void()> first, absl::FunctionRef<void()> second) {
  LoopFence fence;
  const auto fenced = [&fence](absl::FunctionRef<void()> work) {
    fence.EnterPiece();
    work();
    fence.LeavePiece();
  };
  tbb::parallel_invoke([&] { fenced(first); }, [&] { fenced(second); });
}

void RunWithThreads(int threads, absl::FunctionRef<void()> work) {
  auto limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                     static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  try {
    arena.initialize();
  } catch (...) {
    static_cast<void>(limit.release());  // after a lack of memory here its destructor never ends
    throw;
  }
  arena.execute([&] { work(); });
}

int MaxConcurrency() { return tbb::this_task_arena::max_concurrency(); }

}  // namespace octavo
