// The trials of a search: their options, from a space or from the facts of the graph, and the checks before any
// training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "run/options.h"
#include "run/validation.h"
#include "tune/halving.h"
#include "tune/search_log.h"
#include "tune/search_space.h"

namespace octavo {

struct TuneOptions {
  std::filesystem::path graph;
  std::filesystem::path folder;
  SearchSpace space;  // without options: the trials are candidates (tune/candidates.h)
  std::uint64_t trials = 16;
  std::uint64_t epochs_least = 3;       // of the first rung; with a space only
  std::uint64_t epochs = 27;            // of the last rung; learning rates are scheduled over these in every trial
  std::uint64_t reduction_factor = 3;   // one in so many trials continues after a rung
  std::uint64_t validation_sample = 0;  // edges; 0: all of the split
  std::uint64_t seed = 1;               // for the draws, and for the trainings unless the space names a seed
  // Time limit for all processes that worked on the search, summed from tune.jsonl; 0: no limit. Work after the last
  // event before a kill is not in the log and does not count, even if a commit has kept it.
  double budget_seconds = 0;
  // Without a space: the time, counted likewise, that the search takes to its end, with a choice of trials and rungs
  // that fits it (tune/time_plan.h); 0: `trials` trials, however long they take.
  double seconds = 0;
  // Without a space: what the candidates may need, in bytes. Only a new search reads it.
  std::uint64_t memory = 0;

  bool without_space() const { return space.options.empty(); }
};

struct Trial {
  std::uint64_t number = 0;
  TrainOptions options;
  std::vector<std::string> values;  // of SearchSpace::options, in their order
  std::string summary = {};         // what differs between trials, for people: "learning-rate 0.1, dim 64"
  std::uint64_t epochs_done = 0;    // at its last result
  ValidationScores scores = {};     // at its last result
  double seconds = 0;               // in all, as far as logged
  double fixed_seconds = 0;         // of these, in starts and validations, also in those that were stopped
  std::uint64_t timed_rungs = 0;    // whose fixed seconds are known
  double expected_seconds = 0;      // of all its epochs, if that was measured before; or 0
  std::string failure = {};         // why it failed or left; empty if it has not
  bool left = false;                // for lack of time
};

// Does all checks of the options that are possible before training.
absl::Status CheckTuneOptions(const TuneOptions& options, const Graph& graph);

// Draws the trials from the space and checks them. REQUIRES: CheckTuneOptions; !options.without_space()
absl::StatusOr<std::vector<Trial>> DrawSpaceTrials(const TuneOptions& options);

// Makes the candidates. Within a time it measures the machine in `folder`, which must exist. It chooses smaller ones if
// the graph's choice would take too much of the time, and one that is larger if it would take little; the note says so.
// Ends with absl::CancelledError soon after `stop`, which may be empty and is called by several threads, returns true.
// REQUIRES: as above; options.without_space()
absl::StatusOr<LoggedCandidates> MakeLoggedCandidates(const TuneOptions& options, const Graph& graph, int threads,
                                                      const std::filesystem::path& folder,
                                                      const std::function<bool()>& stop = {});
// Returns the trials, and sets `space` to the options in which any differs from its default.
std::vector<Trial> TrialsOf(const LoggedCandidates& candidates, const TuneOptions& options, SearchSpace& space);

// The rungs for the trials, and how they are halved.
Halving HalvingOf(const TuneOptions& options, const std::vector<Trial>& trials);

// At how many epochs the trial ends the rung: the same share of every trial's epochs.
std::uint64_t EndOfRung(const Trial& trial, const std::vector<Rung>& rungs, std::size_t rung);

// What identifies the search of the options, for its log.
SearchArguments ArgumentsOf(const TuneOptions& options, const Graph& graph);

// Returns notes for the log where numbers are not divisible: ends of ranges, trials by `reduction_factor`, the epochs
// of the rungs, and the validations between them.
std::vector<std::string> SearchNotes(const TuneOptions& options, const std::vector<Rung>& rungs);

}  // namespace octavo
