// The training of a run: epochs of batches, commits, and the way back after a stop.
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

// Starts a run in `folder`, which must not have one, and trains it. With `overwrite` an old one is removed behind all
// checks. With `init` its rows begin as those of another run or a file (run/initial_vectors.h), which must not be in
// `folder`; the first commit is behind that, so a kill before it leaves no run, or the old one, which is removed only
// then (checkpoint/run_replacement.h). Told to stop before it, it ends with absl::CancelledError.
absl::StatusOr<TrainOutcome> StartRun(const std::filesystem::path& graph_folder, const std::filesystem::path& folder,
                                      const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                                      const TrainCallbacks& callbacks, const InitialSource& init = {});

// The same on a graph that has not its name yet, in a place that was taken before it was made. The graph gets its name
// behind the run's first commit and just before the run takes its place: whatever stops this, the older graph and run
// stand, or the new ones, perhaps when the next to take the run's lock has finished it (run/run_exchange.h). `init`
// must be given.
absl::StatusOr<TrainOutcome> GrowRun(AtomicFolder graph, RunFolder place, const TrainOptions& options,
                                     const TrainSettings& settings, const TrainCallbacks& callbacks,
                                     const InitialSource& init);

// What StartRun and ResumeRun would begin with: all of their checks, but that no other process has the run and that the
// disk gives what it says it has. Write nothing.
struct TrainingStart {
  TrainOptions options;
  TrainingPlan plan;  // of all epochs
  GraphDescription graph;
  std::uint64_t generation = 0;  // 0 for a new run
  std::uint64_t epoch = 0;       // done
  std::uint64_t batch = 0;       // done of the next
};
absl::StatusOr<TrainingStart> CheckStart(const std::filesystem::path& graph_folder, const std::filesystem::path& folder,
                                         const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                                         const InitialSource& init = {});
// The checks of StartRun on a graph that is yet to be made, for whoever replaces a graph for it: `base` with more nodes
// and edges. `has_valid_edges` says whether it will have valid ones.
absl::Status CheckGrownStart(const std::filesystem::path& base, bool has_valid_edges,
                             const std::filesystem::path& folder, const TrainOptions& options, bool overwrite,
                             const TrainSettings& settings, const InitialSource& init);
absl::StatusOr<TrainingStart> CheckResume(const std::filesystem::path& folder, std::uint64_t epochs,
                                          const TrainSettings& settings,
                                          const std::filesystem::path& graph_folder = {});

// Goes on from the last commit of the run, to `epochs` if that is not 0, and gives the bits that an unbroken run
// would have given (in the schedule `async` no two runs do). With more epochs than the run was started with that is so
// for the constant learning rate and plateau only: the other schedules stretch over all epochs, and bend at the batch
// where the number changes. A run that options.patience has stopped goes on only where `epochs` is not 0; patience
// counts anew then. The graph is where run.json says, or in `graph_folder` if that is not empty, which run.json then
// says.
absl::StatusOr<TrainOutcome> ResumeRun(const std::filesystem::path& folder, std::uint64_t epochs,
                                       const TrainSettings& settings, const TrainCallbacks& callbacks,
                                       const std::filesystem::path& graph_folder = {});

}  // namespace octavo
