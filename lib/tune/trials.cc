#include "tune/trials.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "base/stopwatch.h"
#include "choose/graph_facts.h"
#include "choose/timed_choice.h"
#include "fmt/format.h"
#include "train/machine_probe.h"
#include "train/training_plan.h"
#include "tune/candidate_sizes.h"
#include "tune/candidates.h"
#include "tune/time_plan.h"
#include "tune/trial_draw.h"

namespace octavo {
namespace {

// The options of every trial before those of the space. Validates after each rung; if its epochs are not multiples of
// the first rung's, also in between.
TrainOptions BaseOptions(const TuneOptions& options) {
  TrainOptions base;
  base.epochs = options.epochs;
  base.seed = options.seed;
  base.validation_sample = options.validation_sample;
  base.validate_every = std::gcd(options.epochs_least, options.epochs);
  return base;
}

absl::Status CheckValidations(const std::filesystem::path& space, const std::vector<Trial>& trials,
                              const std::vector<Rung>& rungs) {
  const std::uint64_t every = trials[0].options.validate_every;  // the same in all trials
  for (const Rung& rung : rungs) {
    if (every > 0 && rung.epochs % every == 0) continue;
    return UsageError(fmt::format(
        "{}: validate-every: found {}, and a rung ends at epoch {}; expected a divisor of --epochs-least and --epochs",
        space.string(), every, rung.epochs));
  }
  return absl::OkStatus();
}

// With several seeds trials would be ranked on different edges, and the luckiest sample would win.
absl::Status CheckSample(const std::filesystem::path& space, const std::vector<Trial>& trials) {
  const TrainOptions& first = trials[0].options;
  const auto differs = [&](const Trial& trial) { return trial.options.seed != first.seed; };
  if (first.validation_sample == 0 || std::ranges::none_of(trials, differs)) return absl::OkStatus();
  return UsageError(fmt::format(
      "{}: seed: found several, but the seed determines the edges of --validation-sample; expected one seed, or no "
      "--validation-sample",
      space.string()));
}

// A graph that was moved is still the same graph.
std::string Fingerprint(const Graph& graph) {
  return fmt::format("fingerprint {:016x}", graph.description().fingerprint);
}

// What differs in the trial: "learning-rate 0.1, dim 64".
std::string VaryingText(const SearchSpace& space, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < space.options.size(); ++i) {
    if (!space.options[i].Varies()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", space.options[i].field->name, values[i]);
  }
  return text;
}

// Every option in which a trial differs from the defaults, with its values. Those of the search itself are left out.
SearchSpace SpaceOf(const std::vector<TrainOptions>& candidates) {
  SearchSpace space;
  for (const OptionField& field : TrainOptionFields()) {
    if (field.name == "seed" || field.section == "work") continue;
    ValueChoice values;
    for (const TrainOptions& options : candidates) {
      std::string value = field.format(options);
      if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
    }
    if (values == ValueChoice{field.format(TrainOptions())}) continue;
    space.options.push_back({.field = &field, .values = std::move(values)});
  }
  return space;
}

}  // namespace

absl::Status CheckTuneOptions(const TuneOptions& options, const Graph& graph) {
  const std::string folder = graph.paths().folder().string();
  if (!options.without_space() && options.epochs < options.epochs_least) {
    return UsageError(
        fmt::format("--epochs is {} and --epochs-least {}; expected the last rung to have as many or more",
                    options.epochs, options.epochs_least));
  }
  if (graph.description().train_edges == 0) return UsageError(fmt::format("{}: no training edges", folder));
  if (graph.description().valid_edges > 0 || options.without_space()) return absl::OkStatus();
  return UsageError(
      fmt::format("{}: no edges to validate with; expected a graph imported with --valid FILE or --split", folder));
}

absl::StatusOr<std::vector<Trial>> DrawSpaceTrials(const TuneOptions& options) {
  ASSIGN_OR_RETURN(std::vector<TrialDraw> draws,
                   DrawTrials(options.space, BaseOptions(options), options.seed, options.trials));
  std::vector<Trial> trials;
  for (TrialDraw& draw : draws) {
    trials.push_back({.number = trials.size(), .options = std::move(draw.options), .values = std::move(draw.values)});
    trials.back().summary = VaryingText(options.space, trials.back().values);
  }
  RETURN_IF_ERROR(CheckSample(options.space.path, trials));
  RETURN_IF_ERROR(CheckValidations(options.space.path, trials, HalvingOf(options, trials).rungs()));
  return trials;
}

absl::StatusOr<LoggedCandidates> MakeLoggedCandidates(const TuneOptions& options, const Graph& graph, int threads,
                                                      const std::filesystem::path& folder,
                                                      const std::function<bool()>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  CandidateSource source = {.facts = {}, .graph = graph.description(), .memory = options.memory};
  source.seed = options.seed;
  ASSIGN_OR_RETURN(source.facts, MeasureFacts(graph, options.memory));
  LoggedCandidates candidates;
  if (options.seconds > 0) {
    const TimePlan plan(options.seconds);
    const bool twice = graph.description().valid_edges == 0;  // the best is trained on all edges, too
    int times = twice ? 2 : 1;
    if (options.trials == 1) times = 0;
    CandidateMeasures measures;
    measures.seconds = [&](const TrainOptions& trained) -> absl::StatusOr<double> {
      RETURN_IF_ERROR(CheckTrialOptions(trained));
      const ProbeLimits limits = {
          .memory = source.memory, .seconds = ProbeSeconds(plan.MostSecondsOfTrial(times)), .stop = stop};
      ASSIGN_OR_RETURN(const MachineRates rates, ProbeMachine(trained, graph, folder, limits));
      ASSIGN_OR_RETURN(const TrainingPlan training,
                       PlanTraining(trained, graph, source.memory, threads, folder, &rates));
      return training.seconds;
    };
    measures.choice = [&](double most) -> absl::StatusOr<TrainOptions> {
      const TimeLimit limit = {.seconds = most, .folder = folder, .threads = threads, .stop = stop};
      ASSIGN_OR_RETURN(const Choice choice,
                       ChooseForTime(graph, source.facts, source.memory, source.options, source.given, limit));
      return choice.options;
    };
    ASSIGN_OR_RETURN(candidates.note, FitCandidates(source, plan, times, measures));
  }
  candidates.options = MakeCandidates(source, options.trials);
  if (HasLarger(source, candidates.options)) {
    candidates.larger_seconds = source.larger->seconds;
  } else if (source.larger) {
    candidates.note.clear();  // it does not fit in memory, or does not differ
  }
  candidates.seconds = SecondsSince(begin);
  return candidates;
}

std::vector<Trial> TrialsOf(const LoggedCandidates& candidates, const TuneOptions& options, SearchSpace& space) {
  space = SpaceOf(candidates.options);
  std::vector<Trial> trials;
  for (const TrainOptions& candidate : candidates.options) {
    Trial trial = {.number = trials.size(), .options = candidate, .values = {}};
    trial.options.seed = options.seed;
    for (const SpaceOption& option : space.options) trial.values.push_back(option.field->format(candidate));
    trial.summary = trials.empty() ? "auto" : DifferenceText(candidate, candidates.options[0]);
    trials.push_back(std::move(trial));
  }
  if (trials.size() > 1) trials[1].expected_seconds = candidates.larger_seconds;
  return trials;
}

Halving HalvingOf(const TuneOptions& options, const std::vector<Trial>& trials) {
  if (options.without_space()) {
    std::vector<Rung> rungs = MakeReferenceRungs(trials.size(), trials[0].options.epochs, options.reduction_factor);
    // Within a time, the last rung has as many as there is time for.
    if (options.seconds > 0 && rungs.size() > 1) rungs.back().trials = rungs[rungs.size() - 2].trials;
    return Halving(std::move(rungs), Halving::Kind::kReference);
  }
  return Halving(MakeRungs(trials.size(), options.epochs_least, options.epochs, options.reduction_factor));
}

std::uint64_t EndOfRung(const Trial& trial, const std::vector<Rung>& rungs, std::size_t rung) {
  const std::uint64_t end = trial.options.epochs * rungs[rung].epochs / rungs.back().epochs;
  return std::max<std::uint64_t>(1, end);
}

SearchArguments ArgumentsOf(const TuneOptions& options, const Graph& graph) {
  if (options.without_space()) {
    return {{"--graph", Fingerprint(graph)},
            {"--time", options.seconds > 0 ? fmt::format("{} s", options.seconds) : "none"},
            {"--trials", std::to_string(options.trials)},
            {"--reduction-factor", std::to_string(options.reduction_factor)},
            {"--validation-sample", std::to_string(options.validation_sample)},
            {"--seed", std::to_string(options.seed)}};
  }
  SearchArguments arguments = {{"--graph", Fingerprint(graph)},
                               {"--trials", std::to_string(options.trials)},
                               {"--epochs-least", std::to_string(options.epochs_least)},
                               {"--epochs", std::to_string(options.epochs)},
                               {"--reduction-factor", std::to_string(options.reduction_factor)},
                               {"--validation-sample", std::to_string(options.validation_sample)},
                               {"--seed", std::to_string(options.seed)}};
  for (const SpaceOption& option : options.space.options) {
    arguments.emplace_back(fmt::format("{} in --space", option.field->name), Describe(option));
  }
  return arguments;
}

std::vector<std::string> SearchNotes(const TuneOptions& options, const std::vector<Rung>& rungs) {
  std::vector<std::string> notes = options.space.notes;
  if (options.without_space()) return notes;
  for (std::size_t i = 0; i + 1 < rungs.size(); ++i) {
    if (rungs[i].trials % options.reduction_factor == 0) continue;
    notes.push_back(fmt::format("1 in {} of {} trials is not a whole number: {} continue from epoch {} to {}",
                                options.reduction_factor, rungs[i].trials, rungs[i + 1].trials, rungs[i].epochs,
                                rungs[i + 1].epochs));
  }
  if (rungs.size() == 1 && options.epochs > options.epochs_least) {
    notes.push_back(fmt::format("--epochs {} is less than {} times --epochs-least {}: there is one rung, of all trials",
                                options.epochs, options.reduction_factor, options.epochs_least));
  } else if (rungs.size() > 1 && rungs.back().epochs != rungs[rungs.size() - 2].epochs * options.reduction_factor) {
    notes.push_back(fmt::format("--epochs {} is not --epochs-least {} times a power of {}: the last rung is longer",
                                options.epochs, options.epochs_least, options.reduction_factor));
  }
  const std::uint64_t every = BaseOptions(options).validate_every;
  const bool chosen = std::ranges::any_of(
      options.space.options, [](const SpaceOption& option) { return option.field->name == "validate-every"; });
  if (!chosen && every < rungs[0].epochs) {
    notes.push_back(
        fmt::format("validations run after every {} epochs, the greatest common divisor of --epochs-least and "
                    "--epochs; only those at the ends of rungs count",
                    every));
  }
  return notes;
}

}  // namespace octavo
