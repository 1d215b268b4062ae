// What this machine does with a training, measured in some seconds.
#pragma once

#include <cstdint>
#include <filesystem>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "train/options.h"

namespace octavo {

// Bytes and edges a second.
struct MachineRates {
  double disk_read = 0;
  double disk_write = 0;
  double training = 0;  // everything resident
};

// A training of batches alone: nothing is read, exchanged or committed.
struct TrainingRate {
  double edges_per_second = 0;
  double compute_seconds = 0;  // an edge: sampling, gathering, scores and gradients, and what runs beside them
  double apply_seconds = 0;    // an edge: summing gradients and updating rows, where nothing else runs beside
};

// Trains batches of the graph's first edges for `seconds`, and a moment before to warm up, on tables of `rows` nodes,
// which take a moment of disk in `folder`. Leaves nothing behind. Runs on TBB's workers.
// REQUIRES: rows > 0; the graph has training edges
absl::StatusOr<TrainingRate> ProbeTraining(TrainOptions options, const Graph& graph,
                                           const std::filesystem::path& folder, std::uint64_t rows, double seconds);

// Writes and reads past the page cache in `folder`, where the run will stand, and trains batches of the graph's first
// edges on a table that takes a quarter of `memory` bytes at most. Leaves nothing behind. Runs on TBB's workers.
absl::StatusOr<MachineRates> ProbeMachine(const TrainOptions& options, const Graph& graph,
                                          const std::filesystem::path& folder, std::uint64_t memory);

}  // namespace octavo
