// Searches for the options that train a graph best: draws random points of a space and trains the better ones longer by
// successive halving. The folder holds tune.jsonl, best.toml and the runs of the remaining trials.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "train/trainer.h"
#include "tune/halving.h"
#include "tune/search_space.h"

namespace octavo {

struct TuneOptions {
  std::filesystem::path graph;
  std::filesystem::path folder;
  SearchSpace space;
  std::uint64_t trials = 16;
  std::uint64_t epochs_least = 3;       // of the first rung
  std::uint64_t epochs = 27;            // of the last rung; learning rates are scheduled over these in every trial
  std::uint64_t reduction_factor = 3;   // one in so many trials continues after a rung
  std::uint64_t validation_sample = 0;  // edges; 0: all of the split
  std::uint64_t seed = 1;               // for the draws, and for the trainings unless the space names a seed
  // Time limit for all processes that worked on the search, summed from tune.jsonl; 0: no limit. Work after the last
  // event before a kill is not in the log and does not count, even if a commit has kept it.
  double budget_seconds = 0;
};

struct Trial {
  std::uint64_t number = 0;
  TrainOptions options;
  std::vector<std::string> values;  // of SearchSpace::options, in their order
  std::uint64_t epochs_done = 0;    // at its last result
  ValidationScores scores = {};     // at its last result
  double seconds = 0;               // in all, as far as logged
  std::string failure = {};         // why it failed; empty if it has not
};

// Called on the searching thread. `train` serves the training of every trial. All except `settings` may be empty.
struct SearchCallbacks {
  // Returns how to train a trial: threads, memory, the validator. A usage error means that it does not fit the
  // available memory: the trial fails and the search continues.
  std::function<absl::StatusOr<TrainSettings>(const TrainOptions&, const Graph&)> settings;
  std::function<void(const Halving&, Halving::Task, const Trial&)> on_begin = {};
  std::function<void(const Halving&, Halving::Task, const Trial&)> on_end = {};  // with a result or a failure
  TrainCallbacks train = {};
};

enum class SearchEnd { kDone, kBudget, kStopped };

struct SearchOutcome {
  SearchEnd end = SearchEnd::kDone;
  std::vector<Trial> trials;  // by number; fewer than requested if the space has no more
  Halving halving;            // the ranking
  std::optional<std::uint64_t> best;
  double seconds = 0;  // of all processes so far; see budget_seconds
};

// Does the checks of RunSearch before it uses the folder, and returns the rungs. Writes nothing.
absl::StatusOr<std::vector<Rung>> CheckSearch(const TuneOptions& options);

// Returns how long the trainings of the search take, measured on a few of its trials within a few seconds; validations
// are not counted. Uses disk in `folder`, which must exist, but leaves nothing there.
absl::StatusOr<double> EstimateSearchSeconds(const TuneOptions& options, std::uint64_t memory,
                                             const std::filesystem::path& folder);

// Returns notes for the log where numbers are not divisible: ends of ranges, trials by `reduction_factor`, the epochs
// of the rungs, and the validations between them.
std::vector<std::string> SearchNotes(const TuneOptions& options, const std::vector<Rung>& rungs);

// Starts a search, or continues the one in the folder. The result is a function of graph, options and what fits the
// memory, however often the search was stopped. `stop` may be nullptr; once not 0, it ends the search after a commit. A
// folder with other contents, or with a search with other options (apart from the budget), is a usage error. A trial
// that diverges or does not fit the memory ranks last. Runs of trials that are out are removed. Whenever this returns
// without an error, it has written the preset of the best trial so far.
absl::StatusOr<SearchOutcome> RunSearch(const TuneOptions& options, const SearchCallbacks& callbacks,
                                        const std::atomic<int>* stop);

}  // namespace octavo
