// tbb::parallel_for on plain threads, for builds with the thread sanitizer.
//
// Debian's TBB library is not built with the sanitizer. The sanitizer thus sees neither how work is passed to TBB's
// workers nor how its end is awaited, and reports each loop as races, inside TBB and in every loop body. Suppressing
// all reports with TBB on the stack would suppress every real race in a body too. This folder precedes TBB's on the
// include path of such builds. The same pieces run on threads that the sanitizer sees; nothing needs to be suppressed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "oneapi/tbb/blocked_range.h"
#include "oneapi/tbb/global_control.h"
#include "oneapi/tbb/partitioner.h"

namespace tbb {
namespace plain_threads {

// Runs piece(0) ... piece(pieces - 1), each once, on several threads, this one among them. Pieces are distributed in
// advance, so that two pieces that race do so on two threads however fast the first is done. The first exception ends
// the loop and is rethrown.
template <typename Piece>
void RunPieces(std::size_t pieces, const Piece& piece) {
  // More threads than cores: more interleavings than the machine would give. One stays one: its order is fixed.
  const std::size_t allowed = global_control::active_value(global_control::max_allowed_parallelism);
  const std::size_t threads = std::min(pieces, allowed == 1 ? 1 : std::max<std::size_t>(allowed, 4));
  std::atomic<bool> failed{false};  // relaxed below: it must not order pieces that nothing else orders
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](std::size_t first) {
    for (std::size_t i = first; i < pieces && !failed.load(std::memory_order_relaxed); i += threads) {
      try {
        piece(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
        failed.store(true, std::memory_order_relaxed);
      }
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) {
    try {
      others.emplace_back(work, t);
    } catch (const std::system_error&) {
      work(t);  // no thread can be started at present: its pieces are done here
    }
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

// Splits `range` as far as possible, or into at most 1,024 pieces, which limits the sanitizer's work.
template <typename Range>
void SplitInto(std::vector<Range>& leaves, Range range, std::size_t depth = 10) {
  if (depth == 0 || !range.is_divisible()) {
    leaves.push_back(std::move(range));
    return;
  }
  Range right(range, split());
  SplitInto(leaves, std::move(range), depth - 1);
  SplitInto(leaves, std::move(right), depth - 1);
}

}  // namespace plain_threads

template <typename Range, typename Body>
requires requires(const Range& range) { range.is_divisible(); }
void parallel_for(const Range& range, const Body& body) {
  if (range.empty()) return;
  std::vector<Range> leaves;
  plain_threads::SplitInto(leaves, range);
  plain_threads::RunPieces(leaves.size(), [&](std::size_t i) { body(leaves[i]); });
}

template <typename Range, typename Body, typename Partitioner>
requires requires(const Range& range) { range.is_divisible(); }
void parallel_for(const Range& range, const Body& body, Partitioner&&) { parallel_for(range, body); }

template <typename Index, typename Function>
requires(!requires(const Index& range) { range.is_divisible(); }) void parallel_for(Index first, Index last,
                                                                                    const Function& function) {
  if (first >= last) return;
  parallel_for(blocked_range<Index>(first, last), [&](const blocked_range<Index>& range) {
    for (Index i = range.begin(); i != range.end(); ++i) function(i);
  });
}

}  // namespace tbb
