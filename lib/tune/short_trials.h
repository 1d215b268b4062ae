// Short trainings of what was chosen for a small graph, and of the changes of it that help some graphs and harm others:
// no fact of a graph says which, so its valid edges do. docs/defaults.md has the rule.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "choose/choice.h"
#include "format/graph_description.h"
#include "graph/graph.h"
#include "run/options.h"
#include "run/validation.h"
#include "train/trainer.h"
#include "tune/candidates.h"

namespace octavo {

struct ShortTrial {
  TrainOptions options = {};     // of the whole training
  std::string change = {};       // "learning-rate 0.5"; empty for the choice itself
  std::uint64_t epochs = 1;      // of the trial
  ValidationScores scores = {};  // after it
  std::uint64_t samples = 0;     // of the ranked edges, so many are independent
  bool diverged = false;         // then the scores are zeros
};

inline constexpr std::uint64_t kMostChanges = 4;

// Whether trials can be made for the graph: it is not too large, and has valid edges or enough training edges to hold
// some out.
bool IsSmallWithEdgesToRank(const GraphDescription& graph);

// Returns the trials of `choice`, made of `source`: itself, then at most `most` changes of it, as many as can be
// trained with the whole training for kUsualFlops. Empty if there is nothing to change, if not
// IsSmallWithEdgesToRank(source.graph), or if that would cost too much with one change.
std::vector<ShortTrial> MakeShortTrials(const CandidateSource& source, const Choice& choice, std::uint64_t most);

// Trials, and what they take on this machine, without the ranking.
struct TimedTrials {
  std::vector<ShortTrial> trials;
  double seconds = 0;
};

// Returns the first of the trials, as many as take about `seconds` together; empty if not even two do. Each counts as
// the first one, which is measured by some batches in the existing folder `folder`; nothing is left there. The tables
// of the measurement take at most a quarter of `memory`. `threads` is that of the settings of RunShortTrial.
absl::StatusOr<TimedTrials> TrialsWithin(double seconds, std::vector<ShortTrial> trials, const Graph& graph,
                                         const std::filesystem::path& folder, std::uint64_t memory, int threads);

// Returns one more trial, to be made after `trials`: the best change together with the best other one that changes
// other options. Nothing if less than two changes are clearly better than the first trial, if none of them can be
// combined, or if that would cost too much, as above. REQUIRES: `trials` were made by MakeShortTrials, and have scores
std::optional<ShortTrial> MakeCombinedTrial(const CandidateSource& source, const Choice& choice,
                                            const std::vector<ShortTrial>& trials);

// Trains the trial in the existing folder `folder`, ranks the valid edges by settings.validate, and leaves nothing
// there. Uses at most kThreadsOfChoice threads, whose memory the trials were made for. That a trial diverges is no
// error. `stop`, called at each batch, ends it with absl::CancelledError soon after it returned true.
absl::Status RunShortTrial(const std::filesystem::path& graph, const std::filesystem::path& folder,
                           const TrainSettings& settings, const TrainCallbacks& callbacks,
                           const std::function<bool()>& stop, ShortTrial& trial);

// Returns the number of the trial to take: the one with the highest MRR, if it is higher than that of the first by more
// than about a standard deviation of such a difference; otherwise the first. So the trial of two changes is compared
// with the better one of them. REQUIRES: not empty
std::size_t TrialToTake(const std::vector<ShortTrial>& trials);

}  // namespace octavo
