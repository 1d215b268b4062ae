// How the training step grows with threads and chunks, and what bounds it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "train/machine_probe.h"
#include "train/options.h"

namespace octavo {

struct ScalingPoint {
  Schedule schedule = Schedule::kSync;
  int threads = 0;
  std::uint64_t chunk = 0;
  TrainingRate rate;
  double gflops = 0;              // the model's own: scores, and the gradients of queries and negatives
  double share_of_gemm_peak = 0;  // of as many threads, measured in the same run
  double gbps = 0;                // 10^9 bytes a second of rows and gradients, by count
  double share_of_bandwidth = 0;  // of all threads
  double speedup = 0;             // against one thread with the same schedule and chunk
  double compute_speedup = 0;
  double apply_speedup = 0;
};

struct ScalingReport {
  std::vector<ScalingPoint> points;
  std::string bound;  // "compute" or "memory": what the best point has the larger share of
};

// Trains the graph's first edges by `options` in each schedule, with each number of threads from 1 up by doubling to
// `threads`, and with half, once and twice the chunk; with windows of several batches in `sync` alone. `memory` bytes
// at most. About `seconds` a point.
absl::StatusOr<ScalingReport> MeasureScaling(const TrainOptions& options, const Graph& graph,
                                             const std::filesystem::path& folder, std::uint64_t memory, int threads,
                                             double seconds);

}  // namespace octavo
