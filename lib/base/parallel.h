// Parallel loops on TBB. The one place where work is handed to its workers, so that the thread sanitizer, which cannot
// see into the TBB library, is told what the hand-over orders. TBB's headers are for parallel.cc alone: they are slow
// to compile.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"

namespace octavo {

// Calls body(first, last) for disjoint ranges that cover [begin, end), at most `grain` long where TBB splits that far,
// on TBB's workers and this thread, and waits. An exception of the body is thrown again here.
void ParallelRanges(std::size_t begin, std::size_t end, std::size_t grain,
                    absl::FunctionRef<void(std::size_t, std::size_t)> body);

// Calls both, each its own task that may have loops in it, and waits. Where the workers are busy with the pieces of
// one, the other is done by whoever is free first.
void ParallelBoth(absl::FunctionRef<void()> first, absl::FunctionRef<void()> second);

// Calls body(i) for each i in [begin, end), each its own task.
template <typename Body>
void ParallelEach(std::size_t begin, std::size_t end, const Body& body) {
  ParallelRanges(begin, end, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) body(i);
  });
}

// Calls work() with `threads` threads for the loops in it, this one among them, also where the machine has fewer.
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

// Returns how many threads a loop that begins here has at most.
int MaxConcurrency();

}  // namespace octavo
