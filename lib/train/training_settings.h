// The settings of a training apart from its options, and what it reports to its caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "format/manifest.h"
#include "plan/epoch_plan.h"
#include "ranks/ranks.h"
#include "run/options.h"
#include "run/telemetry.h"
#include "run/validation.h"
#include "train/loading_choice.h"

namespace octavo {

struct TrainProgress {
  std::uint64_t epoch = 0;  // current epoch, from 1
  std::uint64_t epochs = 0;
  std::uint64_t batch = 0;  // done in this epoch
  std::uint64_t batches = 0;
  std::uint64_t edges = 0;  // done in this epoch
  double loss = 0;          // mean of the epoch so far
};

// The division of the tables from an epoch on.
struct TrainDivision {
  PartitionShape shape;  // with several lanes that of a lane
  std::uint64_t lanes = 1;
  std::uint64_t from_epoch = 0;  // from 1
  bool changed = false;          // differs from the run's: from then on the bits differ from those it would have had
  // On resume: the previous division, and the bytes of memory it needs. Two versions may estimate these differently,
  // and so choose different divisions for the same budget.
  PartitionShape before = {};
  std::uint64_t memory_before = 0;
};

// Called on the training thread. All may be empty.
struct TrainCallbacks {
  std::function<void(std::string_view)> on_warning = {};  // one line for people
  // Before anything is written or changed: the graph, and the options that the training follows.
  std::function<void(const GraphDescription&, const TrainOptions&)> on_begin = {};
  std::function<void(const TrainDivision&)> on_division = {};
  std::function<void(const LoadingChoice&)> on_loading = {};  // before the first batch, and if it changes
  std::function<void(const InitialEvent&)> on_initial = {};   // of a warm start, after its commit
  std::function<void(const TrainProgress&)> on_batch = {};
  std::function<void(const EpochEvent&)> on_epoch = {};
  std::function<void(std::uint64_t generation)> on_commit = {};  // within an epoch
  std::function<void(const ValidationEvent&)> on_validation = {};
};

// Ranks the valid split with the commit in the folder `run`, which was trained with `options`. Holds at most `memory`
// bytes. Returns absl::CancelledError if it was stopped by the same event that stops the training.
using Validator = std::function<absl::StatusOr<ValidationScores>(const std::filesystem::path& run,
                                                                 const TrainOptions& options, std::uint64_t memory)>;

// A commit is possible after each window of batches.
struct TrainSettings {
  Ranks* ranks = nullptr;                     // of a training by several processes, which all call the same functions
  int threads = 1;                            // for the memory estimate
  std::uint64_t memory = 0;                   // bytes; a training that needs more is refused
  std::optional<ExchangeMode> exchange = {};  // on resume: instead of that of the run
  bool divide_anew = false;                   // on resume: divide the tables by `memory` from the next epoch on
  const std::atomic<int>* stop = nullptr;     // not 0: train until a commit is possible, commit, return
  std::atomic<bool>* commit = nullptr;        // true: commit likewise, but reset it and continue
  Validator validate = {};                    // required if options.validate_every is not 0
};

struct TrainOutcome {
  bool finished = false;       // false: stopped by TrainSettings::stop, after a commit
  bool stopped_early = false;  // finished before the last epoch because of options.patience
  bool kept_best = false;      // stored in RunPaths::Best
  ValidationProgress validation;
  std::uint64_t generation = 0;
  std::uint64_t epochs_done = 0;
};

}  // namespace octavo
