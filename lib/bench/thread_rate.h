// Measures how often threads can do a piece of work per second.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/checked_math.h"
#include "base/parallel.h"
#include "bench/rate.h"

namespace octavo {

// The clock of a rate: elapsed time, or this program's processor time.
enum class RateClock { kWall, kProcessor };

// Calls of call() per second by `threads` threads, for about `seconds`. Each round distributes at least `least` calls,
// the same number to each thread, so that none waits for the others.
template <typename Call>
double CallsOfThreads(int threads, double seconds, RateClock clock, std::size_t least, const Call& call) {
  const std::size_t calls = RoundUp(least, static_cast<std::size_t>(threads));
  const double rounds = WithThreads(threads, [&] {
    const auto round = [&](std::uint64_t) { ParallelEach(0, calls, [&](std::size_t) { call(); }); };
    return clock == RateClock::kWall ? CallsPerSecond(seconds, round) : IdleCallsPerSecond(threads, seconds, round);
  });
  return rounds * static_cast<double>(calls);
}

}  // namespace octavo
