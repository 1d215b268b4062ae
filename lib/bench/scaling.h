// Measures how the training step scales with threads and chunks, and what limits it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/machine.h"
#include "graph/graph.h"
#include "run/options.h"
#include "train/machine_probe.h"

namespace octavo {

struct ScalingPoint {
  Schedule schedule = Schedule::kSync;
  int threads = 0;
  std::uint64_t chunk = 0;
  TrainingRate rate;
  double gflops = 0;              // only the model's: scores, and the gradients of queries and negatives
  double share_of_gemm_peak = 0;  // of the training's precision and the same threads, measured in the same run
  double gbps = 0;                // 10^9 bytes per second of rows and gradients, computed
  double share_of_bandwidth = 0;  // of all threads
  double speedup = 0;             // over one thread with the same schedule and chunk
  double compute_speedup = 0;
  double apply_speedup = 0;
};

struct ScalingReport {
  std::vector<ProductPeak> peaks;
  std::vector<ScalingPoint> points;
  std::string bound;  // "compute" or "memory": the larger share at the best point
};

// Trains the graph's first edges with `options` in each schedule, with 1, 2, 4, ... up to `threads` threads, and with
// half, once and twice the chunk; windows of several batches only in `sync`. Uses at most `memory` bytes. About
// `seconds` per point.
absl::StatusOr<ScalingReport> MeasureScaling(const TrainOptions& options, const Graph& graph,
                                             const std::filesystem::path& folder, std::uint64_t memory, int threads,
                                             double seconds);

}  // namespace octavo
