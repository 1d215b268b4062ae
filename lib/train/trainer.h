// The training of a run: epochs of batches, commits, and the way back after a stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "io/atomic_file.h"
#include "plan/epoch_plan.h"
#include "train/initial_source.h"
#include "train/options.h"
#include "train/run_place.h"
#include "train/telemetry.h"
#include "train/training_plan.h"

namespace octavo {

struct TrainProgress {
  std::uint64_t epoch = 0;  // under way, from 1
  std::uint64_t epochs = 0;
  std::uint64_t batch = 0;  // done in this epoch
  std::uint64_t batches = 0;
  std::uint64_t edges = 0;  // done in this epoch
  double loss = 0;          // mean of the epoch so far
};

// How the tables are divided from an epoch on.
struct TrainDivision {
  PartitionShape shape;
  std::uint64_t from_epoch = 0;  // from 1
  bool changed = false;  // another one than the run had: from there on the bits are not those it would have given
  // Of a resume: what the run had, and the bytes of memory that this takes. Two versions can estimate those
  // differently, and so divide differently by the same budget.
  PartitionShape before = {};
  std::uint64_t memory_before = 0;
};

// Called on the training thread. All may be empty.
struct TrainCallbacks {
  std::function<void(const TrainDivision&)> on_division = {};
  std::function<void(const InitialEvent&)> on_initial = {};  // of a warm start, behind its commit
  std::function<void(const TrainProgress&)> on_batch = {};
  std::function<void(const EpochEvent&)> on_epoch = {};
  std::function<void(std::uint64_t generation)> on_commit = {};  // within an epoch
  std::function<void(const ValidationEvent&)> on_validation = {};
};

// Ranks the valid split by what the run in the folder has committed, trained with `options`, and holds `memory` bytes
// at most. An absl::CancelledError says that it was stopped, by what stops the training.
using Validator = std::function<absl::StatusOr<ValidationScores>(const std::filesystem::path& run,
                                                                 const TrainOptions& options, std::uint64_t memory)>;

// A cut is behind each window of batches, or where updates lag (train/batch_schedule.h) behind every 32nd batch.
struct TrainSettings {
  int threads = 1;                         // for the memory estimate
  std::uint64_t memory = 0;                // bytes; the training is refused where it needs more
  bool divide_anew = false;                // of a resume: the tables are divided by `memory` from the next epoch on
  const std::atomic<int>* stop = nullptr;  // not 0: train to the next cut, commit, return
  std::atomic<bool>* commit = nullptr;     // true: the same, but clear it and go on
  Validator validate = {};                 // needed where options.validate_every is not 0
};

struct TrainOutcome {
  bool finished = false;       // false: stopped by TrainSettings::stop after a commit
  bool stopped_early = false;  // finished before the last epoch, by options.patience
  bool kept_best = false;      // in RunPaths::Best
  ValidationProgress validation;
  std::uint64_t generation = 0;
  std::uint64_t epochs_done = 0;
};

// Whether the graph has the edges that the options need; a usage error otherwise.
absl::Status CheckTrainable(const Graph& graph, const TrainOptions& options);

// Starts a run in `folder`, which must not have one, and trains it. With `overwrite` an old one is removed behind all
// checks. With `init` its rows begin as those of another run or a file (train/initial_vectors.h), which must not be in
// `folder`; the first commit is behind that, so a kill before it leaves no run, or the old one, which is removed only
// then (checkpoint/run_replacement.h). Told to stop before it, it ends with absl::CancelledError.
absl::StatusOr<TrainOutcome> StartRun(const std::filesystem::path& graph_folder, const std::filesystem::path& folder,
                                      const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                                      const TrainCallbacks& callbacks, const InitialSource& init = {});

// The same on a graph that has not its name yet, in a place that was taken before it was made. The graph gets its name
// behind the run's first commit and just before the run takes its place: whatever stops this, the older graph and run
// stand, or the new ones, perhaps when the next to take the run's lock has finished it (train/run_exchange.h). `init`
// must be given.
absl::StatusOr<TrainOutcome> GrowRun(AtomicFolder graph, RunPlace place, const TrainOptions& options,
                                     const TrainSettings& settings, const TrainCallbacks& callbacks,
                                     const InitialSource& init);

// What StartRun and ResumeRun would begin with: all of their checks, but that no other process has the run and that the
// disk gives what it says it has. Write nothing.
struct TrainingStart {
  TrainOptions options;
  TrainingPlan plan;  // of all epochs
  std::uint64_t train_edges = 0;
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
