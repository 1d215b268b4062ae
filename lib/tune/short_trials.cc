#include "tune/short_trials.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <system_error>

#include "base/parallel.h"
#include "base/status.h"
#include "choose/choice_limits.h"
#include "format/paths.h"
#include "run/trained_edges.h"
#include "train/machine_probe.h"
#include "tune/trial_run.h"

namespace octavo {
namespace {

// A third of the epochs ranks changes almost as all of them do.
constexpr std::uint64_t kEpochsPerTrialEpoch = 3;

// Those of the short training, which validates once, at its end.
TrainOptions ShortOptions(const ShortTrial& trial) {
  TrainOptions options = trial.options;
  options.epochs = trial.epochs;
  options.warmup_epochs *= static_cast<double>(trial.epochs) / static_cast<double>(trial.options.epochs);
  if (options.learning_rate_schedule == LearningRateSchedule::kPlateau) {
    options.learning_rate_schedule = LearningRateSchedule::kLinear;
  }
  options.validate_every = 0;
  options.validation_sample = 0;
  options.patience = 0;
  options.keep = Keep::kLast;
  options.durability = Durability::kProcess;  // nothing of it is kept
  return options;
}

ShortTrial TrialOf(const TrainOptions& options, const TrainOptions& first) {
  return {.options = options,
          .change = DifferenceText(options, first),
          .epochs = std::max<std::uint64_t>(1, options.epochs / kEpochsPerTrialEpoch)};
}

// Whether the trials and the training together cost at most kUsualFlops.
bool IsAffordable(const Choice& choice, const std::vector<ShortTrial>& trials) {
  std::uint64_t epochs = choice.options.epochs;
  for (const ShortTrial& trial : trials) epochs += trial.epochs;
  return choice.flops * static_cast<double>(epochs) / static_cast<double>(choice.options.epochs) <= kUsualFlops;
}

double MrrOf(const ShortTrial& trial) { return trial.scores.mrr; }

// By more than about the standard deviation of the difference of two reciprocal ranks of the same answer. An edge has
// two answers.
bool IsClearlyBetter(const ShortTrial& trial, const ShortTrial& first) {
  constexpr double kNoise = 0.3;
  const double ranks = 2 * static_cast<double>(std::max<std::uint64_t>(1, trial.samples));
  return MrrOf(trial) - MrrOf(first) > kNoise / std::sqrt(ranks);
}

}  // namespace

// Ranking among more nodes than this takes long. Of fewer training edges than the other limit, those held out
// (tune/held_out.h) would be a large part.
bool IsSmallWithEdgesToRank(const GraphDescription& graph) {
  constexpr std::uint64_t kMostNodes = 20'000;
  constexpr std::uint64_t kLeastToHoldOut = 1000;
  if (graph.node_count > kMostNodes) return false;
  return graph.valid_edges > 0 || graph.train_edges >= kLeastToHoldOut;
}

std::vector<ShortTrial> MakeShortTrials(const CandidateSource& source, const Choice& choice, std::uint64_t most) {
  std::vector<ShortTrial> trials;
  // Already too much with one change.
  const double least_cost = choice.flops * (1 + 2.0 / kEpochsPerTrialEpoch);
  if (most == 0 || !IsSmallWithEdgesToRank(source.graph) || choice.flops == 0 || least_cost > kUsualFlops)
    return trials;
  const std::vector<TrainOptions> candidates = MakeProbableCandidates(source, most + 1);
  for (const TrainOptions& options : candidates) trials.push_back(TrialOf(options, candidates[0]));
  while (trials.size() > 1 && !IsAffordable(choice, trials)) trials.pop_back();
  if (trials.size() < 2) trials.clear();
  return trials;
}

absl::StatusOr<TimedTrials> TrialsWithin(double seconds, std::vector<ShortTrial> trials, const Graph& graph,
                                         const std::filesystem::path& folder, std::uint64_t memory, int threads) {
  TimedTrials fitting;
  if (trials.size() < 2) return fitting;
  const TrainOptions& options = trials[0].options;
  const std::uint64_t rows = ProbedRows(options, graph, memory);
  ASSIGN_OR_RETURN(const TrainingRate rate, WithThreads(std::min(threads, kThreadsOfChoice), [&] {
                     return ProbeTraining(options, graph, folder, rows, ProbeSeconds(seconds));
                   }));
  const double epoch = static_cast<double>(MostTrainedEdges(options, graph.description())) / rate.edges_per_second;
  for (ShortTrial& trial : trials) {
    const double with_it = fitting.seconds + epoch * static_cast<double>(trial.epochs);
    if (with_it > seconds) break;
    fitting.seconds = with_it;
    fitting.trials.push_back(std::move(trial));
  }
  if (fitting.trials.size() < 2) fitting = {};
  return fitting;
}

std::optional<ShortTrial> MakeCombinedTrial(const CandidateSource& source, const Choice& choice,
                                            const std::vector<ShortTrial>& trials) {
  std::vector<ShortTrial> better;
  for (const ShortTrial& trial : trials) {
    if (IsClearlyBetter(trial, trials[0])) better.push_back(trial);
  }
  std::ranges::stable_sort(better, std::ranges::greater(), MrrOf);
  for (std::size_t t = 1; t < better.size(); ++t) {
    const std::optional<TrainOptions> options =
        CombineCandidates(source, trials[0].options, better[0].options, better[t].options);
    if (!options) continue;
    std::vector<ShortTrial> all = trials;
    all.push_back(TrialOf(*options, trials[0].options));
    if (IsAffordable(choice, all)) return all.back();
  }
  return std::nullopt;
}

absl::Status RunShortTrial(const std::filesystem::path& graph, const std::filesystem::path& folder,
                           const TrainSettings& settings, const TrainCallbacks& callbacks,
                           const std::function<bool()>& stop, ShortTrial& trial) {
  const RunPaths run(folder / "trial");
  const TrainOptions options = ShortOptions(trial);
  TrainSettings limited = settings;
  limited.threads = std::min(settings.threads, kThreadsOfChoice);
  const absl::StatusOr<std::optional<ValidationScores>> scores = WithThreads(
      limited.threads, [&] { return TrainToEpoch(graph, run, options, options.epochs, limited, callbacks, stop); });
  std::error_code ignored;
  std::filesystem::remove_all(run.folder(), ignored);
  trial.scores = {};
  trial.samples = 0;
  trial.diverged = IsDiverged(scores.status());
  if (trial.diverged) return absl::OkStatus();
  RETURN_IF_ERROR(scores.status());
  if (!*scores) return absl::CancelledError();
  trial.diverged = !std::isfinite((*scores)->mrr);
  if (trial.diverged) return absl::OkStatus();
  trial.scores = **scores;
  trial.samples = trial.scores.triples;
  return absl::OkStatus();
}

std::size_t TrialToTake(const std::vector<ShortTrial>& trials) {
  const auto best = std::ranges::max_element(trials, {}, MrrOf);
  return IsClearlyBetter(*best, trials[0]) ? static_cast<std::size_t>(best - trials.begin()) : 0;
}

}  // namespace octavo
