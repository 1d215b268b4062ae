#include "tune/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
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
#include "run/trained_edges.h"
#include "train/machine_probe.h"
#include "train/memory_estimate.h"
#include "tune/held_out.h"
#include "tune/preset_file.h"
#include "tune/search_log.h"
#include "tune/time_plan.h"
#include "tune/trial_run.h"
#include "tune/trial_times.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoTime = "left, for lack of time";

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

// The time that has passed in this process, in parts.
class PartClock {
 public:
  explicit PartClock(const std::function<double()>& now) : now_(now) {}
  double SecondsOfPart() const { return Now() - begin_; }
  double EndPart() {
    const double now = Now();
    return now - std::exchange(begin_, now);
  }

 private:
  double Now() const { return now_ ? now_() : SecondsSince(start_); }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::function<double()>& now_;
  double begin_ = now_ ? now_() : 0;
};
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
         PartClock clock, SearchLog log)
      : options_(options),
        callbacks_(callbacks),
        stop_(stop),
        graph_(graph),
        paths_(options.folder),
        plan_(options.seconds),
        log_(std::move(log)),
        clock_(clock) {}

  absl::StatusOr<SearchOutcome> Run() {
    if (callbacks_.on_continue) callbacks_.on_continue(log_.seconds());
    RETURN_IF_ERROR(Prepare());
    RETURN_IF_ERROR(Replay());
    RETURN_IF_ERROR(RemoveRunsThatAreOut());
    while (const std::optional<Halving::Task> task = halving_.Next()) {
      if (ShouldEnd()) break;
      ASSIGN_OR_RETURN(const bool begins, Begin(*task));
      if (begins) RETURN_IF_ERROR(RunTask(*task));
    }
    if (!halving_.Next()) end_ = SearchEnd::kDone;  // also if the last task used up the budget
    const std::optional<std::uint64_t> best = halving_.Best();
    if (best) RETURN_IF_ERROR(WritePreset(*best));
    if (best && held_out_ > 0 && end_ == SearchEnd::kDone) RETURN_IF_ERROR(TrainWhole(*best));
    return SearchOutcome{.end = end_,
                         .space = std::move(space_),
                         .trials = std::move(trials_),
                         .halving = std::move(halving_),
                         .best = best,
                         .seconds = log_.seconds(),
                         .held_out = held_out_,
                         .run = std::move(run_)};
  }

 private:
  // Makes the trials, or takes them from the log.
  absl::Status Prepare() {
    if (options_.without_space()) {
      RETURN_IF_ERROR(PrepareCandidates());
    } else {
      space_ = options_.space;
      ASSIGN_OR_RETURN(trials_, DrawSpaceTrials(options_));
    }
    halving_ = HalvingOf(options_, trials_);
    return absl::OkStatus();
  }

  absl::Status PrepareCandidates() {
    if (!log_.candidates()) {
      ASSIGN_OR_RETURN(const TrainSettings settings, callbacks_.settings({}, graph_));
      ASSIGN_OR_RETURN(LoggedCandidates candidates,
                       MakeLoggedCandidates(options_, graph_, settings.threads, paths_.folder(), [this] {
                         return stop_ != nullptr && stop_->load(std::memory_order_relaxed) != 0;
                       }));
      candidates.seconds = clock_.EndPart();
      RETURN_IF_ERROR(log_.AppendCandidates(std::move(candidates)));
    }
    if (callbacks_.on_candidates) callbacks_.on_candidates(*log_.candidates());
    trials_ = TrialsOf(*log_.candidates(), options_, space_);
    if (graph_.description().valid_edges > 0) return absl::OkStatus();
    const absl::StatusOr<GraphDescription> made =
        MakeHeldOutGraph(graph_, options_.seed, paths_.Graph(), [this] { return ShouldEnd(); });
    if (absl::IsCancelled(made.status())) return absl::OkStatus();  // Run ends before the first trial
    RETURN_IF_ERROR(made.status());
    trained_graph_ = paths_.Graph();
    held_out_ = made->valid_edges;
    if (callbacks_.on_held_out) callbacks_.on_held_out(held_out_);
    return absl::OkStatus();
  }

  // Called at each batch; once true it stays true.
  bool ShouldEnd() {
    if (end_ != SearchEnd::kDone) return true;
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed) != 0) {
      end_ = SearchEnd::kStopped;
    } else if (options_.budget_seconds > 0 && Spent() >= options_.budget_seconds) {
      end_ = SearchEnd::kBudget;
    }
    return end_ != SearchEnd::kDone;
  }
  double Spent() const { return log_.seconds() + clock_.SecondsOfPart(); }

  absl::Status Replay() {
    std::uint64_t line = log_.candidates() ? 2 : 1;
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
    // What passes before a trial begins is no part of it, such as holding out edges.
    if (event.kind != SearchEvent::Kind::kBegun) trial.seconds += event.seconds;
    trial.fixed_seconds += event.fixed_seconds;
    paused_ = event.kind == SearchEvent::Kind::kPaused;
    begun_ = event.kind == SearchEvent::Kind::kBegun || (begun_ && paused_);
    if (event.kind == SearchEvent::Kind::kResult) {
      trial.epochs_done = event.epoch;
      trial.scores = event.scores;
      if (event.fixed_seconds > 0) ++trial.timed_rungs;
      halving_.AddResult(event.scores.mrr);
    } else if (event.kind == SearchEvent::Kind::kFailed) {
      trial.failure = event.reason;
      halving_.AddFailure();
    } else if (event.kind == SearchEvent::Kind::kLeft) {
      trial.failure = event.reason;
      trial.left = true;
      halving_.AddSkip();
    }
  }

  TimePlan::Task TimeOf(const Halving::Task& task) const {
    const Trial& trial = trials_[task.trial];
    return {.rung = task.rung,
            .rungs = halving_.rungs().size(),
            .spent = Spent(),
            .needed = times_.ThroughRung(trial, task.rung),
            .later = times_.Later(task, held_out_ > 0, Spent())};
  }

  // The reference, or if that has failed the best of the others, is trained in full even if there is no time.
  bool IsNeeded(const Halving::Task& task) const {
    return task.trial == 0 || (!trials_[0].failure.empty() && halving_.Done(task.rung) == 0);
  }

  // Within a time, decides whether the trial is trained to the end of the rung, or leaves. The log has the decision
  // before it has an effect.
  absl::StatusOr<bool> Begin(const Halving::Task& task) {
    if (!plan_.limited() || begun_) return true;
    TimePlan::Task time = TimeOf(task);
    time.later += times_.AfterRung(trials_[task.trial], task.rung);  // it may be the best
    const bool begins = IsNeeded(task) || plan_.Admits(time);
    RETURN_IF_ERROR(Record({.kind = begins ? SearchEvent::Kind::kBegun : SearchEvent::Kind::kLeft,
                            .trial = task.trial,
                            .rung = task.rung,
                            .reason = begins ? std::string() : std::string(kNoTime)}));
    if (!begins) RETURN_IF_ERROR(RemoveRunsThatAreOut());
    return begins;
  }

  // Logs the event with the time since the one before.
  absl::Status Record(SearchEvent event) {
    event.seconds = clock_.EndPart();
    RETURN_IF_ERROR(log_.Append(event));
    Take(event);
    return absl::OkStatus();
  }

  // Trains the trial to the end of its rung, or until the search should end, and records the result.
  absl::Status RunTask(const Halving::Task& task) {
    if (callbacks_.on_begin) callbacks_.on_begin(halving_, task, trials_[task.trial]);
    ASSIGN_OR_RETURN(const SearchEvent event, TrainTrial(task));
    RETURN_IF_ERROR(Failpoint("tune.trained"));
    RETURN_IF_ERROR(Record(event));
    if (event.kind == SearchEvent::Kind::kPaused) return absl::OkStatus();
    RETURN_IF_ERROR(Failpoint("tune.remove"));
    RETURN_IF_ERROR(RemoveRunsThatAreOut());
    if (callbacks_.on_end) callbacks_.on_end(halving_, task, trials_[task.trial]);
    return absl::OkStatus();
  }

  absl::StatusOr<SearchEvent> TrainTrial(const Halving::Task& task) {
    const Trial& trial = trials_[task.trial];
    const std::uint64_t epoch = EndOfRung(trial, halving_.rungs(), task.rung);
    SearchEvent event = {.kind = SearchEvent::Kind::kFailed, .trial = task.trial, .rung = task.rung};
    absl::StatusOr<TrainSettings> settings = FittingSettings(trial.options);
    RETURN_IF_ERROR(CheckNoLink(paths_.Trial(task.trial).folder()));
    // A run that fitted when it began has not failed; it needs the memory that was available then.
    ASSIGN_OR_RETURN(const bool begun, FileExists(paths_.Trial(task.trial).State()));
    if (!settings.ok() && (begun || KindOf(settings.status()) != ErrorKind::kUsage)) return settings.status();
    if (!settings.ok()) {
      event.reason = MessageOf(settings.status());
      return event;
    }
    double fixed_seconds = 0;  // of the start and the validations
    if (settings->validate) settings->validate = Timing(std::move(settings->validate), fixed_seconds);
    TrainCallbacks callbacks = callbacks_.train;
    bool started = false;
    callbacks.on_loading = [&](const LoadingChoice& choice) {
      if (!std::exchange(started, true)) fixed_seconds += clock_.SecondsOfPart();
      if (callbacks_.train.on_loading) callbacks_.train.on_loading(choice);
    };
    bool trained = paused_;  // if the log has what was trained before the validation
    callbacks.on_batch = [&](const TrainProgress& progress) {
      trained = true;
      if (callbacks_.train.on_batch) callbacks_.train.on_batch(progress);
    };
    TimePlan::Task time = TimeOf(task);
    bool too_late = false;
    const auto should_stop = [&] {
      time.spent = Spent();
      too_late = too_late || (!IsNeeded(task) && plan_.MustEnd(time, clock_.SecondsOfPart()));
      return too_late || ShouldEnd();
    };
    const absl::StatusOr<std::optional<ValidationScores>> scores =
        TrainToEpoch(trained_graph_, paths_.Trial(task.trial), trial.options, epoch, *settings, callbacks, should_stop);
    if (!scores.ok()) {
      if (!IsDiverged(scores.status())) return scores.status();
      event.reason = MessageOf(scores.status());
    } else if (!*scores && too_late) {
      event.kind = SearchEvent::Kind::kLeft;
      event.reason = kNoTime;
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
    // After a kill in the validation only that is repeated, and the log has no time of the epochs. It counts for them.
    const bool goes_on = event.kind == SearchEvent::Kind::kResult || event.kind == SearchEvent::Kind::kPaused;
    if (trained && goes_on) event.fixed_seconds = fixed_seconds;
    return event;
  }

  // Returns a usage error if the trial cannot be trained in the available memory.
  absl::StatusOr<TrainSettings> FittingSettings(const TrainOptions& options) const {
    ASSIGN_OR_RETURN(TrainSettings settings, callbacks_.settings(options, graph_));
    if (options_.without_space() && settings.validate) settings.validate = Sampling(std::move(settings.validate));
    RETURN_IF_ERROR(ChooseShape(options, graph_.description(), settings.memory, settings.threads).status());
    return settings;
  }

  // Validations are not part of a candidate's run, so its options do not have their sample.
  Validator Sampling(Validator validate) const {
    return [validate = std::move(validate), sample = options_.validation_sample](
               const fs::path& run, const TrainOptions& options, std::uint64_t memory) {
      TrainOptions sampling = options;
      sampling.validation_sample = sample;
      return validate(run, sampling, memory);
    };
  }

  // Adds the time of the validations to `seconds`, which must outlive the result. No part of the clock may end in them.
  Validator Timing(Validator validate, double& seconds) const {
    return [this, validate = std::move(validate), &seconds](const auto&... arguments) {
      const double begin = clock_.SecondsOfPart();
      auto scores = validate(arguments...);
      seconds += clock_.SecondsOfPart() - begin;
      return scores;
    };
  }

  // Trains the best trial's options on all edges, for the run that the search leaves.
  absl::Status TrainWhole(std::uint64_t best) {
    const Trial& trial = trials_[best];
    RETURN_IF_ERROR(CheckNoLink(paths_.WholeRun().folder()));
    ASSIGN_OR_RETURN(TrainSettings settings, FittingSettings(trial.options));
    settings.validate = {};
    if (callbacks_.on_whole) callbacks_.on_whole(trial);
    ASSIGN_OR_RETURN(const auto trained,
                     TrainToEpoch(options_.graph, paths_.WholeRun(), trial.options, trial.options.epochs, settings,
                                  callbacks_.train, [this] { return ShouldEnd(); }));
    if (!trained) return absl::OkStatus();
    run_ = paths_.WholeRun().folder();
    return RemoveTrial(paths_.Trial(best));
  }

  absl::Status RemoveRunsThatAreOut() {
    for (const Trial& trial : trials_) {
      if (halving_.IsOut(trial.number)) RETURN_IF_ERROR(RemoveTrial(paths_.Trial(trial.number)));
    }
    return absl::OkStatus();
  }

  absl::Status WritePreset(std::uint64_t best) {
    const Trial& trial = trials_[best];
    if (!halving_.IsOut(best)) run_ = paths_.Trial(best).folder();
    const auto tried = std::ranges::count_if(trials_, [](const Trial& other) { return other.epochs_done > 0; });
    const std::string comment = fmt::format(
        "Found by octavo tune: the best of {}, validation MRR {:.4f}, Hits@10 {:.4f}.\n"
        "Trial {}, after epoch {} of {}.",
        CountText(static_cast<std::uint64_t>(tried), "trial"), trial.scores.mrr, trial.scores.hits_at_10, best,
        trial.epochs_done, trial.options.epochs);
    return WriteWholeFileAtomically(paths_.Preset(), PresetText(space_, trial.options, comment));
  }

  const TuneOptions& options_;
  const SearchCallbacks& callbacks_;
  const std::atomic<int>* const stop_;
  const Graph& graph_;
  const SearchPaths paths_;
  const TimePlan plan_;
  SearchLog log_;
  PartClock clock_;
  SearchSpace space_;
  std::vector<Trial> trials_;
  Halving halving_{{Rung{.epochs = 1, .trials = 1}}};
  const TrialTimes times_{trials_, halving_, plan_};
  fs::path trained_graph_ = options_.graph;
  std::uint64_t held_out_ = 0;        // edges
  fs::path run_;                      // of the best
  bool begun_ = false;                // the log says that the next task begins
  bool paused_ = false;               // the next task was stopped, and the log has its time so far
  SearchEnd end_ = SearchEnd::kDone;  // the reason, if something has ended the search
};

}  // namespace

absl::StatusOr<SearchPlan> CheckSearch(const TuneOptions& options, int threads, const fs::path& probe) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(options.graph));
  RETURN_IF_ERROR(CheckTuneOptions(options, *graph));
  const SearchPaths paths(options.folder);
  RETURN_IF_ERROR(CheckFolder(paths));
  ASSIGN_OR_RETURN(const std::optional<SearchLog> log, SearchLog::Read(paths.Log(), ArgumentsOf(options, *graph)));
  SearchPlan plan;
  if (log) {
    plan.begun = true;
    plan.done_seconds = log->seconds();
    plan.done =
        static_cast<std::uint64_t>(std::ranges::count(log->events(), SearchEvent::Kind::kResult, &SearchEvent::kind));
  }
  if (options.without_space()) {
    LoggedCandidates candidates;
    if (log && log->candidates()) {
      candidates = *log->candidates();
    } else {
      ASSIGN_OR_RETURN(candidates, MakeLoggedCandidates(options, *graph, threads, probe));
    }
    SearchSpace space;
    plan.trials = TrialsOf(candidates, options, space);
    plan.note = candidates.note;
    const auto edges = static_cast<double>(graph->description().train_edges);
    const bool holds_out = graph->description().valid_edges == 0;
    if (holds_out)
      plan.held_out = static_cast<std::uint64_t>(std::ceil(edges * HeldOutShare(graph->description().train_edges)));
  } else {
    ASSIGN_OR_RETURN(plan.trials, DrawSpaceTrials(options));
  }
  plan.rungs = HalvingOf(options, plan.trials).rungs();
  return plan;
}

absl::StatusOr<double> EstimateSearchSeconds(const TuneOptions& options, const SearchPlan& plan, std::uint64_t memory,
                                             const fs::path& folder) {
  constexpr std::size_t kMostProbes = 4;
  constexpr double kSecondsOfTrial = 0.3;
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(options.graph));
  const std::size_t probes = std::min(kMostProbes, plan.trials.size());
  double trial_seconds = 0;  // in full, the mean
  for (std::size_t i = 0; i < probes; ++i) {
    const TrainOptions& trial = plan.trials[i * plan.trials.size() / probes].options;
    ASSIGN_OR_RETURN(const TrainingRate rate,
                     ProbeTraining(trial, *graph, folder, ProbedRows(trial, *graph, memory), kSecondsOfTrial));
    const auto edges = static_cast<double>(MostTrainedEdges(trial, graph->description()) * trial.epochs);
    trial_seconds += edges / rate.edges_per_second / static_cast<double>(probes);
  }
  const double trials = static_cast<double>(EpochsOf(plan.rungs)) / static_cast<double>(plan.rungs.back().epochs);
  return trial_seconds * (trials + (plan.held_out > 0 ? 1 : 0));
}

absl::StatusOr<SearchOutcome> RunSearch(const TuneOptions& options, const SearchCallbacks& callbacks,
                                        const std::atomic<int>* stop) {
  const PartClock clock(callbacks.clock);
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(options.graph));
  RETURN_IF_ERROR(CheckTuneOptions(options, *graph));
  if (!options.without_space()) RETURN_IF_ERROR(DrawSpaceTrials(options).status());
  const SearchPaths paths(options.folder);
  RETURN_IF_ERROR(CheckFolder(paths));
  RETURN_IF_ERROR(CreateFolders(paths.folder()));
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
  ASSIGN_OR_RETURN(SearchLog log, SearchLog::Open(paths.Log(), ArgumentsOf(options, *graph)));
  return Search(options, callbacks, stop, *graph, clock, std::move(log)).Run();
}

}  // namespace octavo
