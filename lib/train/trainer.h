// Trains a run: epochs of batches, commits, and resuming after a stop.
#pragma once

#include <cstdint>
#include <filesystem>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "io/atomic_file.h"
#include "run/initial_source.h"
#include "run/options.h"
#include "run/run_folder.h"
#include "train/training_plan.h"
#include "train/training_settings.h"

namespace octavo {

// Starts a run in `folder`, which must not have one, and trains it. With `overwrite` an old run is removed after all
// checks. With `init` the rows begin as those of another run or a file (run/initial_vectors.h), which must not be in
// `folder`. The first commit comes after these rows are read; only then is an old run removed
// (checkpoint/run_replacement.h). So a kill before it leaves no run, or the old one. A stop before it returns
// absl::CancelledError.
absl::StatusOr<TrainOutcome> StartRun(const std::filesystem::path& graph_folder, const std::filesystem::path& folder,
                                      const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                                      const TrainCallbacks& callbacks, const InitialSource& init = {});

// The same with a graph that is not yet at its final path, and a run folder that was locked before the graph was made.
// The graph is renamed to its path after the run's first commit, just before the run is installed. If this is
// interrupted, either the older graph and run are in place, or the new ones; the next process that locks the run may
// have to finish the exchange (run/run_exchange.h). REQUIRES: `init` is given
absl::StatusOr<TrainOutcome> GrowRun(AtomicFolder graph, RunFolder place, const TrainOptions& options,
                                     const TrainSettings& settings, const TrainCallbacks& callbacks,
                                     const InitialSource& init);

// What StartRun and ResumeRun would begin with. CheckStart and CheckResume do all of their checks, except that no other
// process has locked the run and that the disk has the space that it reports. They write nothing.
struct TrainingStart {
  TrainOptions options;
  TrainingPlan plan;  // of all epochs
  GraphDescription graph;
  std::uint64_t generation = 0;  // 0 for a new run
  std::uint64_t epoch = 0;       // done
  std::uint64_t batch = 0;       // done in the next epoch
};
absl::StatusOr<TrainingStart> CheckStart(const std::filesystem::path& graph_folder, const std::filesystem::path& folder,
                                         const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                                         const InitialSource& init = {});
// The checks of StartRun for a graph that is not made yet: `base` with more nodes and edges. `has_valid_edges` is
// whether it will have valid edges.
absl::Status CheckGrownStart(const std::filesystem::path& base, bool has_valid_edges,
                             const std::filesystem::path& folder, const TrainOptions& options, bool overwrite,
                             const TrainSettings& settings, const InitialSource& init);
absl::StatusOr<TrainingStart> CheckResume(const std::filesystem::path& folder, std::uint64_t epochs,
                                          const TrainSettings& settings,
                                          const std::filesystem::path& graph_folder = {});

// Continues from the last commit of the run, to `epochs` if that is not 0. The bits are those of an uninterrupted run
// (except in the schedule `async`, where no two runs have the same). With more epochs than the run was started with,
// this holds only for the constant learning rate and plateau: the other learning-rate schedules extend over all epochs,
// so they change at the batch where the number changes. A run that options.patience has stopped continues only if
// `epochs` is not 0; the patience count restarts then. The graph is at the path in run.json, or in `graph_folder` if
// that is not empty; run.json is then updated.
absl::StatusOr<TrainOutcome> ResumeRun(const std::filesystem::path& folder, std::uint64_t epochs,
                                       const TrainSettings& settings, const TrainCallbacks& callbacks,
                                       const std::filesystem::path& graph_folder = {});

}  // namespace octavo
