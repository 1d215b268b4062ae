// A value for each thread of a loop: its buffers, its partial results.
#pragma once

#include <memory>

#include "oneapi/tbb/cache_aligned_allocator.h"
#include "oneapi/tbb/enumerable_thread_specific.h"

#if defined(__SANITIZE_THREAD__)
#define OCTAVO_PER_THREAD_ON_THE_HEAP 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OCTAVO_PER_THREAD_ON_THE_HEAP 1
#endif
#endif

namespace octavo {

// local() is the value of the calling thread, made at its first call; any thread. Iterate over all of them once the
// loop has ended. TBB's own allocator reuses memory unseen by the thread sanitizer, which then reports races; builds
// with the sanitizer thus allocate on the heap.
#ifdef OCTAVO_PER_THREAD_ON_THE_HEAP
template <typename Value>
using PerThread = tbb::enumerable_thread_specific<Value, std::allocator<Value>>;
#else
template <typename Value>
using PerThread = tbb::enumerable_thread_specific<Value, tbb::cache_aligned_allocator<Value>>;
#endif

}  // namespace octavo
