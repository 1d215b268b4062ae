#include "tune/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <system_error>
#include <utility>

#include "base/count_text.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "checkpoint/commit_copy.h"
#include "checkpoint/run_lock.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/failpoint.h"
#include "io/file.h"
#include "io/link_check.h"
#include "train/machine_probe.h"
#include "train/memory_estimate.h"
#include "tune/preset_file.h"
#include "tune/search_log.h"
#include "tune/trial_draw.h"
#include "tune/trial_run.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

absl::Status CheckOptions(const TuneOptions& options, const Graph& graph) {
  const std::string folder = graph.paths().folder().string();
  if (options.epochs < options.epochs_least) {
    return UsageError(
        fmt::format("--epochs is {} and --epochs-least {}; expected the last rung to have as many or more",
                    options.epochs, options.epochs_least));
  }
  if (graph.description().train_edges == 0) return UsageError(fmt::format("{}: no training edges", folder));
  if (graph.description().valid_edges > 0) return absl::OkStatus();
  return UsageError(
      fmt::format("{}: no edges to validate with; expected a graph imported with --valid FILE or --split", folder));
}

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

SearchArguments ArgumentsOf(const TuneOptions& options, const Graph& graph) {
  // A graph that was moved is still the same graph, so compare its fingerprint.
  SearchArguments arguments = {{"--graph", fmt::format("fingerprint {:016x}", graph.description().fingerprint)},
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

// A folder with other contents is not used.
absl::Status CheckFolder(const SearchPaths& paths) {
  std::error_code error;
  if (!fs::exists(paths.folder(), error)) return absl::OkStatus();
  if (!fs::is_directory(paths.folder(), error)) {
    return UsageError(fmt::format("{}: exists and is not a folder", paths.folder().string()));
  }
  ASSIGN_OR_RETURN(const bool has_search, FileExists(paths.Log()));
  if (has_search) return absl::OkStatus();
  for (fs::directory_iterator entry(paths.folder(), error), end; !error && entry != end; entry.increment(error)) {
    // Leftovers of a search that was killed at its start.
    if (entry->path() == paths.Lock() || entry->path() == PartialPath(paths.Log())) continue;
    return UsageError(
        fmt::format("{}: exists and does not belong to a search; choose another --output", entry->path().string()));
  }
  if (error) return RuntimeError(fmt::format("{}: {}", paths.folder().string(), error.message()));
  return absl::OkStatus();
}

// Renames the folder first: half of a run would look like a damaged one.
absl::Status RemoveTrial(const RunPaths& trial) {
  const RunPaths renamed = trial.Unfinished();
  RETURN_IF_ERROR(RemoveRunFolder(renamed));  // left by a kill
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(trial.folder(), error))) return absl::OkStatus();
  {
    ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(trial.Lock()));
    RETURN_IF_ERROR(RenameFile(trial.folder(), renamed.folder()));
  }
  return RemoveRunFolder(renamed);
}

class Search {
 public:
  Search(const TuneOptions& options, const SearchCallbacks& callbacks, const std::atomic<int>* stop, const Graph& graph,
         std::vector<Trial> trials, SearchLog log)
      : options_(options),
        callbacks_(callbacks),
        stop_(stop),
        graph_(graph),
        paths_(options.folder),
        trials_(std::move(trials)),
        halving_(MakeRungs(trials_.size(), options.epochs_least, options.epochs, options.reduction_factor)),
        log_(std::move(log)) {}

  absl::StatusOr<SearchOutcome> Run() {
    RETURN_IF_ERROR(Replay());
    RETURN_IF_ERROR(RemoveRunsThatAreOut());
    while (const std::optional<Halving::Task> task = halving_.Next()) {
      if (ShouldEnd()) break;
      RETURN_IF_ERROR(RunTask(*task));
    }
    if (!halving_.Next()) end_ = SearchEnd::kDone;  // also if the last task used up the budget
    const std::optional<std::uint64_t> best = Best();
    if (best) RETURN_IF_ERROR(WritePreset(*best));
    return SearchOutcome{.end = end_,
                         .trials = std::move(trials_),
                         .halving = std::move(halving_),
                         .best = best,
                         .seconds = log_.seconds()};
  }

 private:
  // Called at each batch; once true it stays true.
  bool ShouldEnd() {
    if (end_ != SearchEnd::kDone) return true;
    const double spent = log_.seconds() + SecondsSince(last_event_);
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed) != 0) {
      end_ = SearchEnd::kStopped;
    } else if (options_.budget_seconds > 0 && spent >= options_.budget_seconds) {
      end_ = SearchEnd::kBudget;
    }
    return end_ != SearchEnd::kDone;
  }

  absl::Status Replay() {
    std::uint64_t line = 1;
    for (const SearchEvent& event : log_.events()) {
      ++line;
      const std::optional<Halving::Task> task = halving_.Next();
      if (!task || *task != Halving::Task{.rung = event.rung, .trial = event.trial}) {
        return CorruptError(fmt::format("{}:{}: found trial {} in rung {}; expected {}", paths_.Log().string(), line,
                                        event.trial, event.rung,
                                        task ? fmt::format("trial {} in rung {}", task->trial, task->rung)
                                             : std::string("nothing, since all is done")));
      }
      Take(event);
    }
    return absl::OkStatus();
  }

  void Take(const SearchEvent& event) {
    Trial& trial = trials_[event.trial];
    trial.seconds += event.seconds;
    if (event.kind == SearchEvent::Kind::kResult) {
      trial.epochs_done = event.epoch;
      trial.scores = event.scores;
      halving_.AddResult(event.scores.mrr);
    } else if (event.kind == SearchEvent::Kind::kFailed) {
      trial.failure = event.reason;
      halving_.AddFailure();
    }
  }

  // Trains the trial to the end of its rung, or until the search should end, and records the result.
  absl::Status RunTask(const Halving::Task& task) {
    if (callbacks_.on_begin) callbacks_.on_begin(halving_, task, trials_[task.trial]);
    ASSIGN_OR_RETURN(SearchEvent event, TrainTrial(task));
    RETURN_IF_ERROR(Failpoint("tune.trained"));
    event.seconds = SecondsSince(last_event_);
    last_event_ = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(log_.Append(event));
    Take(event);
    if (event.kind == SearchEvent::Kind::kPaused) return absl::OkStatus();
    RETURN_IF_ERROR(Failpoint("tune.remove"));
    RETURN_IF_ERROR(RemoveRunsThatAreOut());
    if (callbacks_.on_end) callbacks_.on_end(halving_, task, trials_[task.trial]);
    return absl::OkStatus();
  }

  absl::StatusOr<SearchEvent> TrainTrial(const Halving::Task& task) {
    const Trial& trial = trials_[task.trial];
    const std::uint64_t epoch = halving_.rungs()[task.rung].epochs;
    SearchEvent event = {.kind = SearchEvent::Kind::kFailed, .trial = task.trial, .rung = task.rung};
    const absl::StatusOr<TrainSettings> settings = FittingSettings(trial.options);
    RETURN_IF_ERROR(CheckNoLink(paths_.Trial(task.trial).folder()));
    // A run that fitted when it began has not failed; it needs the memory that was available then.
    ASSIGN_OR_RETURN(const bool begun, FileExists(paths_.Trial(task.trial).State()));
    if (!settings.ok() && (begun || KindOf(settings.status()) != ErrorKind::kUsage)) return settings.status();
    if (!settings.ok()) {
      event.reason = MessageOf(settings.status());
      return event;
    }
    const absl::StatusOr<std::optional<ValidationScores>> scores =
        TrainToEpoch(options_.graph, paths_.Trial(task.trial), trial.options, epoch, *settings, callbacks_.train,
                     [this] { return ShouldEnd(); });
    if (!scores.ok()) {
      if (!IsDiverged(scores.status())) return scores.status();
      event.reason = MessageOf(scores.status());
    } else if (!*scores) {
      if (!ShouldEnd()) return absl::InternalError("a trial ended before its rung did");
      event.kind = SearchEvent::Kind::kPaused;
    } else if (!std::isfinite((*scores)->mrr)) {
      event.reason = "the MRR of the validation is not finite";
    } else {
      event.kind = SearchEvent::Kind::kResult;
      event.epoch = epoch;
      event.scores = **scores;
    }
    return event;
  }

  // Returns a usage error if the trial cannot be trained in the available memory.
  absl::StatusOr<TrainSettings> FittingSettings(const TrainOptions& options) const {
    ASSIGN_OR_RETURN(TrainSettings settings, callbacks_.settings(options, graph_));
    RETURN_IF_ERROR(ChooseShape(options, graph_.description(), settings.memory, settings.threads).status());
    return settings;
  }

  absl::Status RemoveRunsThatAreOut() {
    for (const Trial& trial : trials_) {
      if (halving_.IsOut(trial.number)) RETURN_IF_ERROR(RemoveTrial(paths_.Trial(trial.number)));
    }
    return absl::OkStatus();
  }

  std::optional<std::uint64_t> Best() const {
    const Halving::Place first = halving_.Ranking().front();
    return first.rung && !first.failed ? std::optional(first.trial) : std::nullopt;
  }

  absl::Status WritePreset(std::uint64_t best) const {
    const Trial& trial = trials_[best];
    const std::string comment = fmt::format(
        "Found by octavo tune: the best of {}, validation MRR {:.4f}, Hits@10 {:.4f}.\n"
        "Trial {}, after epoch {} of {}.",
        CountText(trials_.size(), "trial"), trial.scores.mrr, trial.scores.hits_at_10, best, trial.epochs_done,
        trial.options.epochs);
    return WriteWholeFileAtomically(paths_.Preset(), PresetText(options_.space, trial.options, comment));
  }

  const TuneOptions& options_;
  const SearchCallbacks& callbacks_;
  const std::atomic<int>* const stop_;
  const Graph& graph_;
  const SearchPaths paths_;
  std::vector<Trial> trials_;
  Halving halving_;
  SearchLog log_;
  SearchEnd end_ = SearchEnd::kDone;  // the reason, if something has ended the search
  std::chrono::steady_clock::time_point last_event_ = std::chrono::steady_clock::now();
};

// Draws the trials and does all checks that are possible before training.
absl::StatusOr<std::vector<Trial>> MakeTrials(const TuneOptions& options, const Graph& graph) {
  RETURN_IF_ERROR(CheckOptions(options, graph));
  ASSIGN_OR_RETURN(std::vector<TrialDraw> draws,
                   DrawTrials(options.space, BaseOptions(options), options.seed, options.trials));
  std::vector<Trial> trials;
  for (TrialDraw& draw : draws) {
    trials.push_back({.number = trials.size(), .options = std::move(draw.options), .values = std::move(draw.values)});
  }
  RETURN_IF_ERROR(CheckSample(options.space.path, trials));
  RETURN_IF_ERROR(
      CheckValidations(options.space.path, trials,
                       MakeRungs(trials.size(), options.epochs_least, options.epochs, options.reduction_factor)));
  return trials;
}

}  // namespace

absl::StatusOr<std::vector<Rung>> CheckSearch(const TuneOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(options.graph));
  ASSIGN_OR_RETURN(const std::vector<Trial> trials, MakeTrials(options, *graph));
  RETURN_IF_ERROR(CheckFolder(SearchPaths(options.folder)));
  return MakeRungs(trials.size(), options.epochs_least, options.epochs, options.reduction_factor);
}

absl::StatusOr<double> EstimateSearchSeconds(const TuneOptions& options, std::uint64_t memory, const fs::path& folder) {
  constexpr std::size_t kMostProbes = 4;
  constexpr double kProbeSeconds = 0.3;
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(options.graph));
  ASSIGN_OR_RETURN(const std::vector<Trial> trials, MakeTrials(options, *graph));
  const std::size_t probes = std::min(kMostProbes, trials.size());
  const auto edges = static_cast<double>(graph->description().train_edges);
  double epoch_seconds = 0;
  for (std::size_t i = 0; i < probes; ++i) {
    const TrainOptions& trial = trials[i * trials.size() / probes].options;
    const std::uint64_t most_rows = std::max<std::uint64_t>(1024, memory / 4 / (trial.dim * sizeof(float)));
    ASSIGN_OR_RETURN(const TrainingRate rate,
                     ProbeTraining(trial, *graph, folder, std::min(graph->node_count(), most_rows), kProbeSeconds));
    epoch_seconds += edges / rate.edges_per_second / static_cast<double>(probes);
  }
  const std::vector<Rung> rungs =
      MakeRungs(trials.size(), options.epochs_least, options.epochs, options.reduction_factor);
  return epoch_seconds * static_cast<double>(EpochsOf(rungs));
}

std::vector<std::string> SearchNotes(const TuneOptions& options, const std::vector<Rung>& rungs) {
  std::vector<std::string> notes = options.space.notes;
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

absl::StatusOr<SearchOutcome> RunSearch(const TuneOptions& options, const SearchCallbacks& callbacks,
                                        const std::atomic<int>* stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(options.graph));
  ASSIGN_OR_RETURN(std::vector<Trial> trials, MakeTrials(options, *graph));
  const SearchPaths paths(options.folder);
  RETURN_IF_ERROR(CheckFolder(paths));
  RETURN_IF_ERROR(CreateFolders(paths.folder()));
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
  ASSIGN_OR_RETURN(SearchLog log, SearchLog::Open(paths.Log(), ArgumentsOf(options, *graph)));
  return Search(options, callbacks, stop, *graph, std::move(trials), std::move(log)).Run();
}

}  // namespace octavo
