// Measures within seconds how fast this machine trains.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "run/options.h"
#include "tables/partition_loading.h"

namespace octavo {

// Bytes and edges per second.
struct MachineRates {
  double disk_read = 0;
  double disk_write = 0;
  double training = 0;  // with everything resident
  // Of tables: their initial values are made and their memory is filled, without the disk. 0: not measured.
  double tables = 0;
  double sync = 0;  // seconds to write and sync a page. 0: not measured
};

// Training batches only: nothing is read, exchanged or committed.
struct TrainingRate {
  double edges_per_second = 0;
  double compute_seconds = 0;  // per edge: sampling, gathering, scores, gradients, and concurrent updates
  double apply_seconds = 0;    // per edge: summing gradients and updating rows, if done separately
};

// Tables of any number of rows, and batches of some edges of a graph to train on them. One user thread; runs on TBB's
// workers.
class TrainingProbe {
 public:
  // Makes tables of `rows` nodes in memory. Creates their files, of zeros, in `folder` if they are missing; two probes
  // may share them. They can be removed afterwards. This and Train end with absl::CancelledError soon after `stop`,
  // which may be empty and is called by several threads, returns true. REQUIRES: rows > 0; the graph, which must
  // outlive this, has training edges
  static absl::StatusOr<TrainingProbe> Make(const TrainOptions& options, const Graph& graph,
                                            const std::filesystem::path& folder, std::uint64_t rows, Loading loading,
                                            std::function<bool()> stop = {});
  TrainingProbe(TrainingProbe&&) noexcept;
  ~TrainingProbe();

  // Trains for `seconds`, after a short warm-up.
  absl::StatusOr<TrainingRate> Train(double seconds);
  // How long it took to fill the tables of nodes.
  double table_seconds() const;

 private:
  struct Parts;
  explicit TrainingProbe(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The same with tables in huge pages, which briefly use disk in `folder`. Leaves nothing there.
absl::StatusOr<TrainingRate> ProbeTraining(const TrainOptions& options, const Graph& graph,
                                           const std::filesystem::path& folder, std::uint64_t rows, double seconds);

// Rows of a probe's tables of nodes: as many as fit a quarter of `memory` bytes with the optimizer's state, at least
// 1,024, at most one for each node.
std::uint64_t ProbedRows(const TrainOptions& options, const Graph& graph, std::uint64_t memory);

inline constexpr double kProbeSeconds = 1.5;
// How long batches are trained to measure a training that is to take `time`; both in seconds.
double ProbeSeconds(double time);

struct ProbeLimits {
  std::uint64_t memory = 0;        // bytes; the probe's tables take at most a quarter
  double seconds = kProbeSeconds;  // of training batches
  // May be empty; true: end with absl::CancelledError soon. Called by several threads.
  std::function<bool()> stop = {};
};

// Measures the disk of `folder`, where the run will be, bypassing the page cache, with fewer bytes for small tables.
// Then trains batches of some of the graph's edges. Leaves nothing in the folder. Runs on TBB's workers.
absl::StatusOr<MachineRates> ProbeMachine(const TrainOptions& options, const Graph& graph,
                                          const std::filesystem::path& folder, const ProbeLimits& limits);

}  // namespace octavo
