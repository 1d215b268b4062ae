// Parallel loops on TBB. Only this file hands work to TBB's workers. It annotates the hand-over for the thread
// sanitizer, which cannot see into the TBB library. Only parallel.cc includes TBB's headers, which are slow to compile.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"

namespace octavo {

// Calls body(first, last) for disjoint ranges that cover [begin, end) and waits for all. Runs on TBB's workers and this
// thread. Ranges are at most `grain` long where TBB splits that far. Rethrows an exception of the body.
void ParallelRanges(std::size_t begin, std::size_t end, std::size_t grain,
                    absl::FunctionRef<void(std::size_t, std::size_t)> body);

// Runs both as separate tasks, which may contain loops, and waits for both. If all workers are busy with one of them,
// the first free worker runs the other.
void ParallelBoth(absl::FunctionRef<void()> first, absl::FunctionRef<void()> second);

// Calls body(i) for each i in [begin, end), each as a separate task.
template <typename Body>
void ParallelEach(std::size_t begin, std::size_t end, const Body& body) {
  ParallelRanges(begin, end, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) body(i);
  });
}

// Runs work() with `threads` threads for the loops in it, including this one, even if the machine has fewer.
// REQUIRES: threads > 0
void RunWithThreads(int threads, absl::FunctionRef<void()> work);

// The same, and returns what work() returns.
template <typename Work>
auto WithThreads(int threads, const Work& work) {
  using Result = std::decay_t<decltype(work())>;
  if constexpr (std::is_void_v<Result>) {
    RunWithThreads(threads, work);
  } else {
    std::optional<Result> result;
    RunWithThreads(threads, [&] { result.emplace(work()); });
    return *std::move(result);
  }
}

// Returns the maximum number of threads of a loop that starts here.
int MaxConcurrency();

}  // namespace octavo
