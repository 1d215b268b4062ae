// Measures how often a piece of work can be done per second.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

namespace octavo {

inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
// Of all threads of this process. On a busy machine it advances more slowly than real time.
inline double ProcessorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Calls work(i) for i = 0, 1, ... for about `seconds` of the clock `now`, in three rounds after one that warms up, and
// returns the calls per second of the median round, so that a burst of other load does not count. A round also ends
// when four times its seconds have passed on the wall clock, e.g. where a quota limits the processor time.
template <typename Work, typename Now = double (*)(), typename Wall = double (*)()>
double CallsPerSecond(double seconds, const Work& work, const Now& now = SteadySeconds,
                      const Wall& wall = SteadySeconds) {
  constexpr int kRounds = 3;
  constexpr double kMostOnTheWall = 4;
  std::array<double, kRounds> rates{};
  std::uint64_t call = 0;
  for (int round = -1; round < kRounds; ++round) {
    const double enough = seconds / (round < 0 ? 2 * kRounds : kRounds);
    const double wall_end = wall() + kMostOnTheWall * enough;
    const double begin = now();
    std::uint64_t calls = 0;
    double passed = 0;
    do {
      work(call++);
      ++calls;
      passed = now() - begin;
    } while (passed < enough && wall() < wall_end);
    if (round >= 0) rates[static_cast<std::size_t>(round)] = static_cast<double>(calls) / passed;
  }
  std::ranges::sort(rates);
  return rates[kRounds / 2];
}

// Processors used by `threads` threads: at most those of the machine.
inline double ProcessorsOf(int threads) {
  return std::min(threads, static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

// The same for work that keeps `threads` threads busy, as on an otherwise idle machine: counts the processor time they
// received.
template <typename Work, typename Now = double (*)(), typename Wall = double (*)()>
double IdleCallsPerSecond(int threads, double seconds, const Work& work, const Now& now = ProcessorSeconds,
                          const Wall& wall = SteadySeconds) {
  const double processors = ProcessorsOf(threads);
  const auto idle = [&] { return now() / processors; };
  return CallsPerSecond(seconds, work, idle, wall);
}

}  // namespace octavo
