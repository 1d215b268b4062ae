#include "bench/prefetch.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/stopwatch.h"
#include "prefetch/double_buffered_prefetcher.h"

namespace octavo {
namespace {

constexpr double kItemSeconds = 4e-3;

void Compute(double seconds) {
  for (const auto begin = std::chrono::steady_clock::now(); SecondsSince(begin) < seconds;) {
  }
}

PrefetchRow MeasureRow(double fetch, double compute, std::uint64_t items) {
  DoubleBufferedPrefetcher<std::uint64_t> prefetcher([fetch](std::uint64_t item, std::uint64_t& buffer) {
    std::this_thread::sleep_for(std::chrono::duration<double>(fetch));
    buffer = item;
    return absl::OkStatus();
  });
  PrefetchRow row{.fetch_seconds = fetch, .compute_seconds = compute};
  auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < items; ++i) {
    static_cast<void>(prefetcher.Load(i));  // the filler cannot fail
    Compute(compute);
  }
  row.serial_seconds = SecondsSince(begin);
  begin = std::chrono::steady_clock::now();
  static_cast<void>(prefetcher.Load(0));
  for (std::uint64_t i = 0; i < items; ++i) {
    if (i + 1 < items) static_cast<void>(prefetcher.PrefetchAsync(i + 1));
    Compute(compute);
    if (i + 1 < items) static_cast<void>(prefetcher.Swap());
  }
  row.double_buffered_seconds = SecondsSince(begin);
  const auto rest = static_cast<double>(items - 1);
  row.ideal_seconds = fetch + rest * std::max(fetch, compute) + compute;
  return row;
}

}  // namespace

std::vector<PrefetchRow> MeasurePrefetch(double seconds) {
  std::vector<PrefetchRow> rows;
  const auto items = std::max<std::uint64_t>(10, static_cast<std::uint64_t>(seconds / 2 / kItemSeconds));
  for (const double ratio : {0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0}) {
    const double fetch = kItemSeconds * ratio / (1 + ratio);
    rows.push_back(MeasureRow(fetch, kItemSeconds - fetch, items));
  }
  return rows;
}

}  // namespace octavo
