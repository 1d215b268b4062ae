// How often a piece of work can be done in a second.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "base/stopwatch.h"

namespace octavo {

// Calls work(i) for i = 0, 1, ... for about `seconds` in three rounds, behind one that warms up, and returns the calls
// a second of the middle round: a neighbour's burst does not count.
template <typename Work>
double CallsPerSecond(double seconds, const Work& work) {
  constexpr int kRounds = 3;
  std::array<double, kRounds> rates{};
  std::uint64_t call = 0;
  for (int round = -1; round < kRounds; ++round) {
    const double enough = seconds / (round < 0 ? 2 * kRounds : kRounds);
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t calls = 0;
    double passed = 0;
    do {
      work(call++);
      ++calls;
      passed = SecondsSince(begin);
    } while (passed < enough);
    if (round >= 0) rates[static_cast<std::size_t>(round)] = static_cast<double>(calls) / passed;
  }
  std::ranges::sort(rates);
  return rates[kRounds / 2];
}

}  // namespace octavo
