#include "bench/locks.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "base/random.h"
#include "bench/rate.h"
#include "tables/mmap_manager.h"
#include "tables/stripe_locks.h"

namespace octavo {
namespace {

constexpr std::size_t kRowFloats = 128;
constexpr std::uint64_t kRows = std::uint64_t{1} << 19;
constexpr std::size_t kDraws = 1 << 16;  // a thread goes round them
constexpr std::size_t kAhead = 4;

// Zipf's law with exponent 1, nearly: the logarithm of the rank is uniform.
std::uint64_t DrawRow(RandomStream& random, bool skewed) {
  if (!skewed) return random.Below(kRows);
  const double rank = std::pow(static_cast<double>(kRows), static_cast<double>(random.NextFloat()));
  // Ranks lie anywhere in the table, as hashed ids do.
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
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> updates{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      const std::vector<std::uint64_t> rows = DrawRows(t, threads, skewed, apart);
      const std::vector<float> gradient(kRowFloats, 1e-6F);
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      std::uint64_t done = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        for (std::size_t i = 0; i < 256; ++i, ++done) {
          const std::uint64_t row = rows[done % kDraws];
          PrefetchFloats(table.data() + rows[(done + kAhead) % kDraws] * kRowFloats, kRowFloats);
          update(row, [&] {
            float* values = table.data() + row * kRowFloats;
            for (std::size_t d = 0; d < kRowFloats; ++d) values[d] += gradient[d];
          });
        }
      }
      updates.fetch_add(done, std::memory_order_relaxed);
    });
  }
  const auto begin = std::chrono::steady_clock::now();
  go.store(true, std::memory_order_release);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& worker : workers) worker.join();
  return static_cast<double>(updates.load()) / SecondsSince(begin);
}

}  // namespace

std::vector<LockRate> MeasureLocks(int threads, double seconds) {
  std::vector<LockRate> rates;
  std::vector<float> table(kRows * kRowFloats, 0.0F);
  std::vector<int> counts = {1};
  if (threads > 1) counts.push_back(threads);
  for (const int count : counts) {
    for (const bool skewed : {false, true}) {
      const double free = MeasureUpdates(table, count, skewed, /*apart=*/true, seconds,
                                         [](std::uint64_t, const auto& work) { work(); });
      rates.push_back({"none", 0, count, skewed, free});
      for (const std::size_t stripes :
           {std::size_t{64}, std::size_t{1024}, StripeLocks::kDefaultStripes, std::size_t{65536}}) {
        const StripeLocks locks(stripes);
        const double striped =
            MeasureUpdates(table, count, skewed, /*apart=*/false, seconds, [&](std::uint64_t row, const auto& work) {
              const WriterStripeLock lock(locks.LockFor(static_cast<NodeId>(row)));
              work();
            });
        rates.push_back({"stripes", stripes, count, skewed, striped});
      }
      StripeMutex one;
      const double global =
          MeasureUpdates(table, count, skewed, /*apart=*/false, seconds, [&](std::uint64_t, const auto& work) {
            const WriterStripeLock lock(one);
            work();
          });
      rates.push_back({"one", 1, count, skewed, global});
    }
  }
  return rates;
}

}  // namespace octavo
