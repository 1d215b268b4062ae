// Searches for the options that train a graph best: draws random points of a space, or candidates from the facts of the
// graph, and trains the better ones longer by successive halving. The folder holds tune.jsonl, best.toml and the runs
// of the remaining trials. Without a space, trial 0 is what train chooses. It is trained in full whatever its rank, and
// no result is worse by the valid split. If the graph has no valid edges, some training edges are held out
// (tune/held_out.h), and the best trial is trained again on all edges at the end.
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
#include "tune/trials.h"

namespace octavo {

// Called on the searching thread. `train` serves the training of every trial. All except `settings` may be empty.
struct SearchCallbacks {
  // Returns how to train a trial: threads, memory, the validator. A usage error means that it does not fit the
  // available memory: the trial fails and the search continues.
  std::function<absl::StatusOr<TrainSettings>(const TrainOptions&, const Graph&)> settings;
  std::function<void(double seconds)> on_continue = {};  // first; what the processes before have taken, as logged
  std::function<void(const Halving&, Halving::Task, const Trial&)> on_begin = {};
  std::function<void(const Halving&, Halving::Task, const Trial&)> on_end = {};  // with a result or a failure
  std::function<void(const LoggedCandidates&)> on_candidates = {};  // without a space, before the first trial
  std::function<void(std::uint64_t edges)> on_held_out = {};        // of edges that the search holds out
  std::function<void(const Trial&)> on_whole = {};                  // before the best is trained on all edges
  TrainCallbacks train = {};
  // Seconds on a clock that never goes back, instead of the machine's. For tests.
  std::function<double()> clock = {};
};

enum class SearchEnd { kDone, kBudget, kStopped };

struct SearchOutcome {
  SearchEnd end = SearchEnd::kDone;
  SearchSpace space;          // of the trials' values
  std::vector<Trial> trials;  // by number; fewer than requested if the space has no more
  Halving halving;            // the ranking
  std::optional<std::uint64_t> best;
  double seconds = 0;              // of all processes so far; see budget_seconds
  std::uint64_t held_out = 0;      // training edges that were held out by the search
  std::filesystem::path run = {};  // of the best, if it is there: of all edges once these are trained
};

// What a search would train.
struct SearchPlan {
  std::vector<Rung> rungs;
  std::vector<Trial> trials;
  std::string note = {};       // of the candidates
  std::uint64_t held_out = 0;  // about so many edges would be held out
  bool begun = false;          // the folder has a search with these arguments
  std::uint64_t done = 0;      // rungs that its trials have completed, and the time spent
  double done_seconds = 0;
};

// Does the checks of RunSearch before it uses the folder. Writes nothing. `threads` of the trainings. Within a time it
// measures the machine, if the search has not begun, and uses disk in the existing folder `probe`.
absl::StatusOr<SearchPlan> CheckSearch(const TuneOptions& options, int threads = 1,
                                       const std::filesystem::path& probe = ".");

// Returns how long the trainings of the search take, measured on a few of its trials within a few seconds; validations
// are not counted. Uses disk in `folder`, which must exist, but leaves nothing there.
absl::StatusOr<double> EstimateSearchSeconds(const TuneOptions& options, const SearchPlan& plan, std::uint64_t memory,
                                             const std::filesystem::path& folder);

// Starts a search, or continues the one in the folder. The result is a function of graph, options and what fits the
// memory, however often the search was stopped. `stop` may be nullptr; once not 0, it ends the search after a commit. A
// folder with other contents, or with a search with other options (apart from the budget and the memory), is a usage
// error. A trial that diverges or does not fit the memory ranks last. Within a time the result depends on the clock
// too, but each decision is in the log before it has an effect, and a search that continues takes the same ones. Runs
// of trials that are out are removed. Whenever this returns without an error, it has written the preset of the best
// trial so far. A stop while the candidates are made is absl::CancelledError.
absl::StatusOr<SearchOutcome> RunSearch(const TuneOptions& options, const SearchCallbacks& callbacks,
                                        const std::atomic<int>* stop);

}  // namespace octavo
