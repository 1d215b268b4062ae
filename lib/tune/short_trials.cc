#include "tune/short_trials.h"

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/status.h"
#include "format/paths.h"
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

}  // namespace

std::vector<ShortTrial> MakeShortTrials(const CandidateSource& source, const Choice& choice, std::uint64_t most) {
  std::vector<ShortTrial> trials;
  // Already too much with one change.
  const double least_cost = choice.flops * (1 + 2.0 / kEpochsPerTrialEpoch);
  if (most == 0 || source.graph.valid_edges == 0 || choice.flops == 0 || least_cost > kUsualFlops) return trials;
  const std::vector<TrainOptions> candidates = MakeProbableCandidates(source, most + 1);
  const auto epochs = static_cast<double>(choice.options.epochs);
  double all_epochs = epochs;
  for (const TrainOptions& options : candidates) {
    trials.push_back({.options = options,
                      .change = DifferenceText(options, candidates[0]),
                      .epochs = std::max<std::uint64_t>(1, options.epochs / kEpochsPerTrialEpoch)});
    all_epochs += static_cast<double>(trials.back().epochs);
  }
  if (trials.size() < 2 || choice.flops * all_epochs / epochs > kUsualFlops) trials.clear();
  return trials;
}

absl::Status RunShortTrial(const std::filesystem::path& graph, const std::filesystem::path& folder,
                           const TrainSettings& settings, const TrainCallbacks& callbacks,
                           const std::function<bool()>& stop, ShortTrial& trial) {
  const RunPaths run(folder / "trial");
  const TrainOptions options = ShortOptions(trial);
  absl::StatusOr<std::optional<ValidationScores>> scores =
      TrainToEpoch(graph, run, options, options.epochs, settings, callbacks, stop);
  std::error_code ignored;
  std::filesystem::remove_all(run.folder(), ignored);
  trial.scores = {};
  trial.diverged = IsDiverged(scores.status());
  if (trial.diverged) return absl::OkStatus();
  RETURN_IF_ERROR(scores.status());
  if (!*scores) return absl::CancelledError();
  trial.diverged = !std::isfinite((*scores)->mrr);
  if (!trial.diverged) trial.scores = **scores;
  return absl::OkStatus();
}

std::size_t TrialToTake(const std::vector<ShortTrial>& trials) {
  // About the standard deviation of the difference of two reciprocal ranks of the same answer. An edge has two answers.
  constexpr double kNoise = 0.3;
  const auto best = std::ranges::max_element(trials, {}, [](const ShortTrial& trial) { return trial.scores.mrr; });
  const double ranks = 2 * static_cast<double>(std::max<std::uint64_t>(1, best->scores.triples));
  if (best->scores.mrr - trials[0].scores.mrr <= kNoise / std::sqrt(ranks)) return 0;
  return static_cast<std::size_t>(best - trials.begin());
}

}  // namespace octavo
