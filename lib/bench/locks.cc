#include "bench/locks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "base/random.h"
#include "base/stopwatch.h"
#include "bench/kernels.h"
#include "bench/rate.h"
#include "run/options.h"
#include "tables/mmap_manager.h"
#include "tables/stripe_locks.h"

namespace octavo {
namespace {

constexpr std::size_t kRowFloats = 128;
constexpr std::uint64_t kRows = std::uint64_t{1} << 19;
constexpr std::size_t kDraws = 1 << 16;  // each thread cycles through them
constexpr std::size_t kAhead = 4;

// Approximates Zipf's law with exponent 1: the logarithm of the rank is uniform.
std::uint64_t DrawRow(RandomStream& random, bool skewed) {
  if (!skewed) return random.Below(kRows);
  const double rank = std::pow(static_cast<double>(kRows), static_cast<double>(random.NextFloat()));
  // Scatters the ranks over the table, as hashed ids do.
  return static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15U % kRows;
}

std::vector<std::uint64_t> DrawRows(int thread, int threads, bool skewed, bool apart) {
  RandomStream random(1, RandomPurpose::kGenerate, 3, static_cast<std::uint64_t>(thread));
  std::vector<std::uint64_t> rows(kDraws);
  const auto count = static_cast<std::uint64_t>(threads);
  for (std::uint64_t& row : rows) {
    row = DrawRow(random, skewed);
    if (apart) row = (row / count * count + static_cast<std::uint64_t>(thread)) % (kRows / count * count);
  }
  return rows;
}

template <typename Update>
double MeasureUpdates(std::vector<float>& table, int threads, bool skewed, bool apart, double seconds,
                      const Update& update) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> updates{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      const std::vector<std::uint64_t> rows = DrawRows(t, threads, skewed, apart);
      const std::vector<float> gradient(kRowFloats, 1e-6F);
      ready.fetch_add(1, std::memory_order_relaxed);
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      std::uint64_t done = 0;
      do {
        for (std::size_t i = 0; i < 256; ++i, ++done) {
          const std::uint64_t row = rows[done % kDraws];
          PrefetchFloats(table.data() + rows[(done + kAhead) % kDraws] * kRowFloats, kRowFloats);
          update(row, [&] {
            float* values = table.data() + row * kRowFloats;
            for (std::size_t d = 0; d < kRowFloats; ++d) values[d] += gradient[d];
          });
        }
      } while (!stop.load(std::memory_order_relaxed));
      updates.fetch_add(done, std::memory_order_relaxed);
    });
  }
  while (ready.load(std::memory_order_relaxed) < threads) std::this_thread::yield();  // all have drawn their rows
  const auto begin = std::chrono::steady_clock::now();
  go.store(true, std::memory_order_release);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& worker : workers) worker.join();
  return static_cast<double>(updates.load()) / SecondsSince(begin);
}

double WithoutLocks(std::vector<float>& table, int threads, bool skewed, double seconds) {
  return MeasureUpdates(table, threads, skewed, /*apart=*/true, seconds,
                        [](std::uint64_t, const auto& work) { work(); });
}

double WithStripes(std::vector<float>& table, std::size_t stripes, int threads, bool skewed, bool apart,
                   double seconds) {
  const StripeLocks locks(stripes);
  return MeasureUpdates(table, threads, skewed, apart, seconds, [&](std::uint64_t row, const auto& work) {
    const WriterStripeLock lock(locks.LockFor(static_cast<NodeId>(row)));
    work();
  });
}

double WithOneLock(std::vector<float>& table, int threads, bool skewed, double seconds) {
  StripeMutex one;
  return MeasureUpdates(table, threads, skewed, /*apart=*/false, seconds, [&](std::uint64_t, const auto& work) {
    const WriterStripeLock lock(one);
    work();
  });
}

// Seconds of one thread per lock: the median of five differences, each between two measurements in direct succession,
// because a lock takes less than the noise of a shared machine. A batch updates each of its rows once, by one thread.
// So rows are uniform, and disjoint both with and without locks: the difference is the lock alone.
double SecondsOfALock(std::vector<float>& table, int threads, double seconds) {
  std::array<double, 5> differences{};
  for (double& difference : differences) {
    const double none = WithoutLocks(table, threads, /*skewed=*/false, seconds / 5);
    const double striped =
        WithStripes(table, StripeLocks::kDefaultStripes, threads, /*skewed=*/false, /*apart=*/true, seconds / 5);
    difference = threads / striped - threads / none;
  }
  std::ranges::sort(differences);
  return std::max(0.0, differences[differences.size() / 2]);
}

LockShare ShareOfTraining(std::vector<float>& table, int threads, double seconds) {
  const TrainOptions options;
  const KernelShape shape{options.chunk, options.negatives, options.dim};
  LockShare share;
  share.seconds_a_row = SecondsOfALock(table, threads, seconds);
  share.locked_rows_an_edge = 2 + 2 * static_cast<double>(options.negatives) / static_cast<double>(options.chunk);
  share.seconds_an_edge = threads / KernelEdgesPerSecond(options.model_spec(), shape, threads, seconds);
  const double locked = share.seconds_a_row * share.locked_rows_an_edge;
  share.of_training = locked / (locked + share.seconds_an_edge);
  return share;
}

}  // namespace

LockReport MeasureLocks(int threads, double seconds) {
  LockReport report;
  std::vector<float> table(kRows * kRowFloats, 0.0F);
  std::vector<int> counts = {1};
  while (counts.back() < threads) counts.push_back(std::min(2 * counts.back(), threads));
  for (const int count : counts) {
    for (const bool skewed : {false, true}) {
      report.rates.push_back({"none", 0, count, skewed, WithoutLocks(table, count, skewed, seconds)});
      for (const std::size_t stripes :
           {std::size_t{64}, std::size_t{1024}, StripeLocks::kDefaultStripes, std::size_t{65536}}) {
        report.rates.push_back(
            {"stripes", stripes, count, skewed, WithStripes(table, stripes, count, skewed, /*apart=*/false, seconds)});
      }
      report.rates.push_back({"one", 1, count, skewed, WithOneLock(table, count, skewed, seconds)});
    }
  }
  report.share = ShareOfTraining(table, threads, seconds);
  return report;
}

}  // namespace octavo
