// octavo tune: searches for the options that train a graph best.

#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/duration.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "cmd/duration_flag.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/limits.h"
#include "cmd/output_target.h"
#include "cmd/presets.h"
#include "cmd/program.h"
#include "cmd/training.h"
#include "cmd/tune_report.h"
#include "cmd/validation.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "tune/search.h"

namespace octavo {
namespace {

struct TuneFlags {
  std::string graph;
  std::string space;
  std::string output;
  std::string of_space;  // a flag that was given and that only a search with a space has
  TuneOptions search;
  bool json = false;
  bool dry_run = false;
};

std::string RungText(const Halving& halving, const Halving::Task& task, const Trial& trial) {
  return fmt::format("rung {}/{} (to epoch {})  trial {}", task.rung + 1, halving.rungs().size(),
                     EndOfRung(trial, halving.rungs(), task.rung), task.trial);
}

// How far a search is, and how long the rest takes by what this process has trained of it so far.
class SearchClock {
 public:
  // `seconds` that the search may take; 0: as long as it needs.
  explicit SearchClock(double seconds) : seconds_(seconds) {}

  // What the processes before this one have taken.
  void Continue(double seconds) { spent_ = seconds; }

  void Begin(const Halving& halving, Halving::Task task, const Trial& trial) {
    const std::vector<Rung>& rungs = halving.rungs();
    all_ = static_cast<double>(EpochsOf(rungs));
    done_ = static_cast<double>(halving.EpochsDone());
    first_epoch_ = task.rung == 0 ? 0 : EndOfRung(trial, rungs, task.rung - 1);
    last_epoch_ = EndOfRung(trial, rungs, task.rung);
    // Candidates have different numbers of epochs, but the same share of them in a rung.
    const std::uint64_t before = task.rung == 0 ? 0 : rungs[task.rung - 1].epochs;
    weight_ = static_cast<double>(rungs[task.rung].epochs - before) /
              static_cast<double>(std::max<std::uint64_t>(1, last_epoch_ - first_epoch_));
    if (before_ < 0) before_ = done_;
  }
  ShownProgress Progress(const TrainProgress& progress) const {
    ShownProgress shown = ProgressOf(progress);
    const double epochs = static_cast<double>(progress.epoch - 1 - std::min(progress.epoch - 1, first_epoch_));
    shown.later = last_epoch_ - std::min(last_epoch_, progress.epoch);  // of this trial in this rung
    shown.detail = fmt::format("{}, {}", Text(done_ + weight_ * (epochs + shown.share)), shown.detail);
    return shown;
  }
  // Of the whole search, after a trial of this process has ended.
  std::string Text(const Halving& halving) const { return Text(static_cast<double>(halving.EpochsDone())); }

 private:
  std::string Text(double done) const {
    if (seconds_ > 0) {
      return fmt::format("search {} of {}", DurationText(spent_ + SecondsSince(begin_)), DurationText(seconds_));
    }
    const double trained = done - before_;
    const std::string text = fmt::format("search {:.0f} %", 100 * done / all_);
    if (trained <= 0 || done >= all_) return text;
    return fmt::format("{}, {} left", text, DurationText((all_ - done) * SecondsSince(begin_) / trained));
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double seconds_;
  double spent_ = 0;
  double weight_ = 1;   // of the trial's epochs
  double before_ = -1;  // epochs done when this process began; negative: not known yet
  double all_ = 1;
  double done_ = 0;
  std::uint64_t first_epoch_ = 0;
  std::uint64_t last_epoch_ = 0;
};

SearchCallbacks MakeCallbacks(Program& program, const TuneFlags& flags) {
  const auto clock = std::make_shared<SearchClock>(flags.search.seconds);
  const std::uint64_t limit = MemoryLimit(program);
  SearchCallbacks callbacks;
  callbacks.settings = [&program, limit](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
    TrainSettings settings;
    settings.threads = ThreadCount(program);
    settings.memory = limit;
    settings.commit = &CatchCommitRequests();
    settings.validate = MakeValidator(program);
    return settings;
  };
  callbacks.on_continue = [clock](double seconds) { clock->Continue(seconds); };
  callbacks.on_begin = [&, clock](const Halving& halving, Halving::Task task, const Trial& trial) {
    clock->Begin(halving, task, trial);
    program.reporter.Info(fmt::format("{}: {}", RungText(halving, task, trial), trial.summary));
  };
  callbacks.on_end = [&, clock](const Halving& halving, Halving::Task task, const Trial& trial) {
    program.reporter.EndProgress();
    if (trial.left) {
      program.reporter.Info(fmt::format("  {}", trial.failure));
      return;
    }
    if (!trial.failure.empty()) {
      program.reporter.Warning(fmt::format("trial {} has failed: {}", task.trial, trial.failure));
      return;
    }
    program.reporter.Info(fmt::format("  MRR {:.4f}  hits@10 {:.4f}  {} in all{}; {}", trial.scores.mrr,
                                      trial.scores.hits_at_10, DurationText(trial.seconds),
                                      halving.IsOut(task.trial) ? "; out" : "", clock->Text(halving)));
  };
  callbacks.on_candidates = [&program](const LoggedCandidates& candidates) {
    ReportCandidates(program.reporter, candidates);
  };
  callbacks.on_held_out = [&program](std::uint64_t edges) {
    program.reporter.Info(fmt::format(
        "the graph has no valid edges: {} of the training edges are held out to compare the candidates", edges));
  };
  callbacks.on_whole = [&program](const Trial& trial) {
    program.reporter.Info(fmt::format("trial {} is trained on all edges", trial.number));
  };
  callbacks.train.on_batch = [&program, clock](const TrainProgress& progress) {
    program.reporter.Show(clock->Progress(progress));
  };
  callbacks.train.on_epoch = [&program](const EpochEvent& event) {
    program.reporter.Detail(fmt::format("  epoch {}  loss {:.5f}  {:.1f} s  {:.0f} edges/s", event.epoch, event.loss,
                                        event.seconds, event.edges_per_second));
  };
  callbacks.train.on_validation = [&program](const ValidationEvent& event) {
    program.reporter.Detail(fmt::format("  validation after epoch {}: MRR {:.4f}", event.epoch, event.scores.mrr));
  };
  return callbacks;
}

// The progress of a search that ended early.
std::string Standing(const SearchOutcome& outcome) {
  std::string text;
  const std::vector<Rung>& rungs = outcome.halving.rungs();
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    text += fmt::format("{}{} of {} to epoch {}", text.empty() ? "" : ", ", outcome.halving.Done(i), rungs[i].trials,
                        rungs[i].epochs);
  }
  return fmt::format("trials so far: {}", text);
}

absl::Status Conclude(Program& program, const TuneFlags& flags, const SearchOutcome& outcome) {
  if (!flags.search.without_space() && outcome.trials.size() < flags.search.trials) {
    program.reporter.Warning(fmt::format("{}: found {} that differ; expected {}", flags.space,
                                         CountText(outcome.trials.size(), "point"),
                                         CountText(flags.search.trials, "trial")));
  }
  if (outcome.end == SearchEnd::kStopped) {
    program.reporter.Warning(
        fmt::format("stopped by {}; {}; repeat the command to continue", InterruptName(), Standing(outcome)));
    program.exit_code = InterruptExitCode();
  } else if (outcome.end == SearchEnd::kBudget) {
    program.reporter.Warning(
        fmt::format("the --budget is spent after {}; {}; the same command with a larger one continues",
                    DurationText(outcome.seconds), Standing(outcome)));
  } else if (!outcome.best) {
    return RuntimeError(
        fmt::format("{}: every trial has failed, the first one because: {}", flags.output, outcome.trials[0].failure));
  }
  const auto untried =
      std::ranges::count_if(outcome.trials, [](const Trial& trial) { return trial.left && trial.epochs_done == 0; });
  if (untried > 0) {
    program.reporter.Info(fmt::format("{} were not tried, for lack of time",
                                      CountText(static_cast<std::uint64_t>(untried), "candidate")));
  }
  if (outcome.best) {
    const SearchPaths paths(flags.output);
    program.reporter.Info(fmt::format(
        "the best {}: trial {}, in {}{}", outcome.end == SearchEnd::kDone ? "is" : "so far is", *outcome.best,
        paths.Preset().string(), outcome.run.empty() ? std::string() : ", its run in " + outcome.run.string()));
    if (flags.search.without_space() && outcome.end == SearchEnd::kDone) program.reporter.Info(GainText(outcome));
  }
  return absl::OkStatus();
}

// Flags that have a meaning only with a space, or only without one.
absl::Status CheckFlags(const TuneFlags& flags) {
  if (flags.space.empty() && !flags.of_space.empty()) {
    return UsageError(
        fmt::format("{}: found without --space; expected --time, or a --space, since each candidate has its own epochs",
                    flags.of_space));
  }
  if (!flags.space.empty() && flags.search.seconds > 0) {
    return UsageError("--time: found with --space; expected --budget, or no --space");
  }
  return absl::OkStatus();
}

void ReportPlan(Program& program, const TuneFlags& flags, const absl::StatusOr<double>& seconds,
                const SearchPlan& plan) {
  Reporter& reporter = program.reporter;
  if (plan.begun) {
    reporter.Info(fmt::format("{}: continues this search, with {} rungs of trials done in {}", flags.output, plan.done,
                              DurationText(plan.done_seconds)));
  }
  if (flags.search.without_space()) {
    ReportCandidates(reporter, {.options = {plan.trials[0].options}, .note = plan.note});
    for (const Trial& trial : plan.trials) reporter.Info(fmt::format("trial {}: {}", trial.number, trial.summary));
    if (plan.held_out > 0) reporter.Info(fmt::format("about {} are held out", CountText(plan.held_out, "edge")));
  }
  for (const Rung& rung : plan.rungs) {
    reporter.Info(fmt::format("{} to epoch {}", CountText(rung.trials, "trial"), rung.epochs));
  }
  for (const std::string& note : SearchNotes(flags.search, plan.rungs)) reporter.Info(note);
  if (flags.search.seconds > 0) {
    reporter.Info(fmt::format("as many of them as {} allow", DurationText(flags.search.seconds)));
  } else {
    reporter.Info(fmt::format(
        "{} in all{}", CountText(EpochsOf(plan.rungs), "epoch"),
        seconds.ok() ? fmt::format(", about {} of training here, and the validations", DurationText(*seconds))
                     : fmt::format("; no time is estimated: {}", MessageOf(seconds.status()))));
  }
  reporter.Info("--dry-run: nothing was written");
}

absl::Status RunTune(Program& program, TuneFlags& flags) {
  RETURN_IF_ERROR(CheckFlags(flags));
  flags.search.graph = flags.graph;
  flags.search.folder = flags.output;
  flags.search.memory = MemoryLimit(program);
  if (!flags.space.empty()) {
    ASSIGN_OR_RETURN(const std::filesystem::path space, FindPreset(flags.space, "tune", "--space"));
    ASSIGN_OR_RETURN(flags.search.space, LoadSearchSpace(space));
  }
  if (flags.dry_run) {
    const std::filesystem::path probe = ExistingFolder(flags.output);
    ASSIGN_OR_RETURN(const SearchPlan plan, CheckSearch(flags.search, ThreadCount(program), probe));
    const absl::StatusOr<double> seconds =
        EstimateSearchSeconds(flags.search, plan, flags.search.memory, ExistingFolder(flags.output));
    ReportPlan(program, flags, seconds, plan);
    return absl::OkStatus();
  }
  if (!flags.search.without_space()) {
    ASSIGN_OR_RETURN(const SearchPlan plan, CheckSearch(flags.search));
    for (const std::string& note : SearchNotes(flags.search, plan.rungs)) program.reporter.Info(note);
  }
  CatchInterrupts();
  absl::StatusOr<SearchOutcome> searched = RunSearch(flags.search, MakeCallbacks(program, flags), &InterruptSignal());
  constexpr std::string_view kFate = "has no trial yet; the same command begins the search again";
  if (EndedByInterrupt(program, searched.status(), flags.search.folder.string(), kFate)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const SearchOutcome outcome, std::move(searched));
  program.reporter.EndProgress();
  if (flags.json) {
    PrintJson(flags.search, outcome);
  } else {
    PrintTable(flags.search, outcome);
  }
  return Conclude(program, flags, outcome);
}

}  // namespace

void AddTuneVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand(
      "tune",
      "Search for the options that train a graph best: variations of what train chooses, or random points of a space, "
      "the better ones trained longer");
  const auto flags = std::make_shared<TuneFlags>();
  TuneOptions& search = flags->search;
  RefuseEmpty(verb->add_option("--graph", flags->graph, "Graph folder, with valid edges if there is a --space"))
      ->required()
      ->type_name("DIR");
  RefuseEmpty(verb->add_option("--space", flags->space,
                               "TOML file, or the name of an installed one: the options of octavo train, each a "
                               "value, an array of values, or a range { min, max, log, step }. Without it, trials are "
                               "variations of what octavo train chooses for the graph"))
      ->type_name("FILE");
  RefuseEmpty(verb->add_option("--output", flags->output,
                               "Folder of the search; an existing search with the same arguments is continued"))
      ->required()
      ->type_name("DIR");
  AddDuration(*verb, "--time", search.seconds,
              "Without a space: end the search within this time, summed over its calls, with the best trained in full; "
              "tries as many trials as the time allows");
  CLI::Option* const trials =
      AddWholeNumber(*verb, "--trials", search.trials, 1, 10'000,
                     "Points of the space, or variations; with --time the most, 100 if it is not given");
  CLI::Option* const of_space[] = {
      AddWholeNumber(*verb, "--epochs-least", search.epochs_least, 1, 1'000'000,
                     "With a space: epochs of every trial, the first rung"),
      AddWholeNumber(*verb, "--epochs", search.epochs, 1, 1'000'000,
                     "With a space: epochs of the best, the last rung. Linear and cosine learning rates span these in "
                     "every trial")};
  AddWholeNumber(*verb, "--reduction-factor", search.reduction_factor, 2, 1000,
                 "One in this many trials continues to the next rung, with this many times the epochs");
  AddWholeNumber(*verb, "--validation-sample", search.validation_sample, 0, std::uint64_t{1} << 40,
                 "Edges of the valid split that are ranked, the same each time; 0 ranks all");
  AddWholeNumber(*verb, "--seed", search.seed, 0, ~std::uint64_t{0} >> 1,  // of TOML: best.toml names it
                 "Seed of the points, and of the trainings unless the space sets one");
  AddDuration(*verb, "--budget", search.budget_seconds,
              "End after this time, summed over all calls of the search except what kills cut off; call again with "
              "more time to continue (such as 90s, 30m, 2h or 1.5d)");
  verb->add_flag("--dry-run", flags->dry_run, "Check everything and show the rungs, but train and write nothing");
  verb->add_flag("--json", flags->json, "Print a JSON object");
  verb->footer(
      "Trials are compared by the filtered MRR of the valid split. Runs of eliminated trials are removed; that "
      "of\n"
      "the best is kept, and its options are in DIR/best.toml, for octavo train --config.");
  const auto take = [&program, flags, trials, least = of_space[0], epochs = of_space[1]] {
    constexpr std::uint64_t kMostTrials = 100;
    if (flags->search.seconds > 0 && trials->empty()) flags->search.trials = kMostTrials;
    flags->of_space = !least->empty() ? "--epochs-least" : !epochs->empty() ? "--epochs" : "";
    program.run = [flags](Program& p) { return RunTune(p, *flags); };
  };
  verb->final_callback(take);
}

}  // namespace octavo
