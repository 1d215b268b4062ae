#include "bench/scaling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "run/footprint.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMostRows = std::uint64_t{1} << 20;

double FlopsAnEdge(const TrainOptions& options, std::uint64_t negatives) {
  return 12.0 * static_cast<double>(negatives * options.dim);
}

// Bytes of rows gathered, gradients written and read, and rows with their state read and written: for the edge's two
// nodes and its share of the chunk's negatives.
double BytesAnEdge(const TrainOptions& options, std::uint64_t negatives) {
  const double rows = 2.0 + 2.0 * static_cast<double>(negatives) / static_cast<double>(options.chunk);
  const double row = static_cast<double>(options.dim) * sizeof(float);
  const double stored = static_cast<double>(options.dim * ElementBytes(options.storage));
  const double state = static_cast<double>(StateWidth(options.optimizer, options.dim)) * sizeof(float);
  return rows * (3 * stored + 2 * row + 2 * state);
}

// 1, 2, 4, ... up to `threads`.
std::vector<int> ThreadCounts(int threads) {
  std::vector<int> counts = {1};
  while (counts.back() < threads) counts.push_back(std::min(2 * counts.back(), threads));
  return counts;
}

std::vector<TrainOptions> Variants(const TrainOptions& options) {
  std::vector<Schedule> schedules = {Schedule::kSync};
  if (options.accumulate == 1) schedules.push_back(Schedule::kAsync);
  std::vector<TrainOptions> variants;
  for (const Schedule schedule : schedules) {
    for (const std::uint64_t chunk :
         {std::max<std::uint64_t>(1, options.chunk / 2), options.chunk, 2 * options.chunk}) {
      TrainOptions& tried = variants.emplace_back(options);
      tried.schedule = schedule;
      tried.chunk = chunk;
      tried.batch = std::max(tried.batch, chunk);
    }
  }
  return variants;
}

}  // namespace

absl::StatusOr<ScalingReport> MeasureScaling(const TrainOptions& options, const Graph& graph,
                                             const std::filesystem::path& folder, std::uint64_t memory, int threads,
                                             double seconds) {
  const std::uint64_t fitting = std::max<std::uint64_t>(1024, memory / 2 / NodeBytes(options));
  const std::uint64_t rows = std::min({kMostRows, graph.node_count(), fitting});
  const std::uint64_t negatives = options.negatives == 0 ? rows : options.negatives;
  const double bandwidth = MemoryBandwidth(threads, seconds);
  ScalingReport report;
  std::map<std::pair<Schedule, std::uint64_t>, TrainingRate> alone;  // on one thread, by schedule and chunk
  for (const int count : ThreadCounts(threads)) {
    // The same clock as the training's rate.
    const ProductPeak peaks = MeasureProductPeak(count, seconds, RateClock::kWall);
    const double peak = options.precision == Precision::kBf16 ? peaks.bf16 : peaks.float32;
    report.peaks.push_back(peaks);
    for (const TrainOptions& tried : Variants(options)) {
      ASSIGN_OR_RETURN(const TrainingRate rate,
                       WithThreads(count, [&] { return ProbeTraining(tried, graph, folder, rows, seconds); }));
      const TrainingRate& one = alone.try_emplace({tried.schedule, tried.chunk}, rate).first->second;
      const double gflops = rate.edges_per_second * FlopsAnEdge(tried, negatives) * 1e-9;
      const double gbps = rate.edges_per_second * BytesAnEdge(tried, negatives) * 1e-9;
      report.points.push_back({.schedule = tried.schedule,
                               .threads = count,
                               .chunk = tried.chunk,
                               .rate = rate,
                               .gflops = gflops,
                               .share_of_gemm_peak = gflops / peak,
                               .gbps = gbps,
                               .share_of_bandwidth = gbps / bandwidth,
                               .speedup = rate.edges_per_second / one.edges_per_second,
                               .compute_speedup = one.compute_seconds / rate.compute_seconds,
                               .apply_speedup = one.apply_seconds / rate.apply_seconds});
    }
  }
  const ScalingPoint& best = *std::ranges::max_element(
      report.points, {}, [](const ScalingPoint& point) { return point.rate.edges_per_second; });
  report.bound = best.share_of_gemm_peak >= best.share_of_bandwidth ? "compute" : "memory";
  return report;
}

}  // namespace octavo
