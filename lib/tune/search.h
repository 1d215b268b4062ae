// A search for the options that train a graph best: random points of a space, of which successive halving trains the
// better ones longer. Its folder has tune.jsonl, best.toml and the runs of the trials that are not out.
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

struct SearchOptions {
  std::filesystem::path graph;
  std::filesystem::path folder;
  SearchSpace space;
  std::uint64_t trials = 16;
  std::uint64_t epochs_least = 3;       // of the first rung
  std::uint64_t epochs = 27;            // of the last one, which learning rates stretch over in every trial
  std::uint64_t halve = 3;              // one in so many goes on from a rung
  std::uint64_t validation_sample = 0;  // edges; 0: all of the split
  std::uint64_t seed = 1;               // of what is drawn, and of the trainings where the space names none
  // Of all the processes that worked on the search, as tune.jsonl has it: what a kill cuts off, from the event before
  // it on, is in no log and spends nothing, also where a commit has kept the work. 0: no end.
  double budget_seconds = 0;
};

struct Trial {
  std::uint64_t number = 0;
  TrainOptions options;
  std::vector<std::string> values;  // of SearchSpace::options, in its order
  std::uint64_t epochs_done = 0;    // at its last result
  ValidationScores scores = {};     // there
  double seconds = 0;               // in all, as far as no kill has cut it
  std::string failure = {};         // why there is no more of it; empty where it has not failed
};

// Called on the searching thread; the training's are those of whichever trial is under way. All but `settings` may be
// empty.
struct SearchCallbacks {
  // How a trial is trained: threads, memory, the validator. A usage error says that it cannot be, in the memory that
  // there is: the trial has failed, and the search goes on.
  std::function<absl::StatusOr<TrainSettings>(const TrainOptions&, const Graph&)> settings;
  std::function<void(const Halving&, Halving::Task, const Trial&)> on_begin = {};
  std::function<void(const Halving&, Halving::Task, const Trial&)> on_end = {};  // with a result or a failure
  TrainCallbacks train = {};
};

enum class SearchEnd { kDone, kBudget, kStopped };

struct SearchOutcome {
  SearchEnd end = SearchEnd::kDone;
  std::vector<Trial> trials;  // by number; fewer than asked for where the space has no more
  Halving halving;            // who stands where
  std::optional<std::uint64_t> best;
  double seconds = 0;  // of all processes so far, as budget_seconds has it
};

// Returns the rungs of the search, after the checks that RunSearch makes before it takes the folder. Writes nothing.
absl::StatusOr<std::vector<Rung>> CheckSearch(const SearchOptions& options);

// Returns, for the log, where numbers do not divide each other: ends of ranges, trials by `halve`, the epochs of the
// rungs, and the validations between them.
std::vector<std::string> SearchNotes(const SearchOptions& options, const std::vector<Rung>& rungs);

// Searches, or goes on with the search in the folder: what it came to is a function of graph, options and what fits the
// memory, whatever stopped it on the way. `stop`, once not 0, ends it behind a commit; it may be nullptr. A folder with
// anything else in it, or with a search of other options (all but the budget), is a usage error. A trial that diverges,
// or does not fit the memory, is behind all others. The runs of trials that are out are removed; the preset of the best
// one so far is written whenever this returns without an error.
absl::StatusOr<SearchOutcome> RunSearch(const SearchOptions& options, const SearchCallbacks& callbacks,
                                        const std::atomic<int>* stop);

}  // namespace octavo
