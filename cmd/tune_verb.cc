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
#include "base/escape.h"
#include "base/json_escape.h"
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
#include "cmd/validation.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"
#include "tune/search.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

struct TuneFlags {
  std::string graph;
  std::string space;
  std::string output;
  TuneOptions search;
  bool json = false;
  bool dry_run = false;
};

// The keys that differ between trials, with the trial's values: "learning-rate 0.1, dim 64".
std::string VaryingText(const SearchSpace& space, const Trial& trial) {
  std::string text;
  for (std::size_t i = 0; i < space.options.size(); ++i) {
    if (!space.options[i].Varies()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", space.options[i].field->name, trial.values[i]);
  }
  return text;
}

std::string RungText(const Halving& halving, const Halving::Task& task) {
  const Rung& rung = halving.rungs()[task.rung];
  return fmt::format("rung {}/{} (to epoch {})  trial {}", task.rung + 1, halving.rungs().size(), rung.epochs,
                     task.trial);
}

// How far a search is, and how long the rest takes by what this process has trained of it so far.
class SearchClock {
 public:
  void Begin(const Halving& halving, Halving::Task task, const Trial& trial) {
    const std::vector<Rung>& rungs = halving.rungs();
    all_ = static_cast<double>(EpochsOf(rungs));
    done_ = static_cast<double>(halving.EpochsDone());
    first_epoch_ = task.rung == 0 ? 0 : rungs[task.rung - 1].epochs;
    last_epoch_ = rungs[task.rung].epochs;
    if (before_ < 0)
      before_ = done_ + static_cast<double>(trial.epochs_done - std::min(trial.epochs_done, first_epoch_));
  }
  ShownProgress Progress(const TrainProgress& progress) const {
    ShownProgress shown = ProgressOf(progress);
    const double epochs = static_cast<double>(progress.epoch - 1 - std::min(progress.epoch - 1, first_epoch_));
    shown.later = last_epoch_ - std::min(last_epoch_, progress.epoch);  // of this trial in this rung
    shown.detail = fmt::format("{}, {}", Text(done_ + epochs + shown.share), shown.detail);
    return shown;
  }
  // Of the whole search, after a trial of this process has ended.
  std::string Text(const Halving& halving) const { return Text(static_cast<double>(halving.EpochsDone())); }

 private:
  std::string Text(double done) const {
    const double trained = done - before_;
    const std::string text = fmt::format("search {:.0f} %", 100 * done / all_);
    if (trained <= 0 || done >= all_) return text;
    return fmt::format("{}, {} left", text, DurationText((all_ - done) * SecondsSince(begin_) / trained));
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double before_ = -1;  // epochs done when this process began; negative: not known yet
  double all_ = 1;
  double done_ = 0;
  std::uint64_t first_epoch_ = 0;
  std::uint64_t last_epoch_ = 0;
};

SearchCallbacks MakeCallbacks(Program& program, const TuneFlags& flags) {
  const auto clock = std::make_shared<SearchClock>();
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
  callbacks.on_begin = [&, clock](const Halving& halving, Halving::Task task, const Trial& trial) {
    clock->Begin(halving, task, trial);
    program.reporter.Info(fmt::format("{}: {}", RungText(halving, task), VaryingText(flags.search.space, trial)));
  };
  callbacks.on_end = [&, clock](const Halving& halving, Halving::Task task, const Trial& trial) {
    program.reporter.EndProgress();
    if (!trial.failure.empty()) {
      program.reporter.Warning(fmt::format("trial {} has failed: {}", task.trial, trial.failure));
      return;
    }
    program.reporter.Info(fmt::format("  MRR {:.4f}  hits@10 {:.4f}  {} in all{}; {}", trial.scores.mrr,
                                      trial.scores.hits_at_10, DurationText(trial.seconds),
                                      halving.IsOut(task.trial) ? "; out" : "", clock->Text(halving)));
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

// Pads each column to its widest cell.
void PrintColumns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}", row[i], widths[i] + 2);
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void PrintTable(const SearchSpace& space, const SearchOutcome& outcome) {
  std::vector<std::vector<std::string>> rows = {{"rank", "trial", "MRR", "hits@10", "epochs", "seconds"}};
  for (const SpaceOption& option : space.options) {
    if (option.Varies()) rows[0].emplace_back(option.field->name);
  }
  rows[0].emplace_back("");
  std::size_t rank = 0;
  for (const Halving::Place& place : outcome.halving.Ranking()) {
    const Trial& trial = outcome.trials[place.trial];
    const bool ranked = place.rung && !place.failed;
    std::vector<std::string> row = {ranked ? std::to_string(++rank) : "-",
                                    std::to_string(place.trial),
                                    ranked ? fmt::format("{:.4f}", trial.scores.mrr) : "-",
                                    ranked ? fmt::format("{:.4f}", trial.scores.hits_at_10) : "-",
                                    std::to_string(trial.epochs_done),
                                    fmt::format("{:.1f}", trial.seconds)};
    for (std::size_t i = 0; i < space.options.size(); ++i) {
      if (space.options[i].Varies()) row.push_back(trial.values[i]);
    }
    row.push_back(place.failed ? EscapeControls(trial.failure) : ranked ? "" : "not trained yet");
    rows.push_back(std::move(row));
  }
  PrintColumns(rows);
}

std::string_view EndName(SearchEnd end) {
  return end == SearchEnd::kDone ? "done" : end == SearchEnd::kBudget ? "budget" : "stopped";
}

// A value as in run.json: a number, a switch or a string.
Json ValueJson(const SpaceOption& option, const std::string& value) {
  const bool literal = option.field->type != OptionField::Type::kText && Json::accept(value);
  return literal ? Json::parse(value) : Json(value);
}

Json TrialJson(const SearchSpace& space, const Trial& trial, const Halving::Place& place, std::size_t rank) {
  Json json = {{"trial", trial.number}, {"rank", nullptr}};
  if (rank > 0) {
    json.update({{"rank", rank},
                 {"rung", *place.rung + 1},
                 {"mrr", trial.scores.mrr},
                 {"hits@1", trial.scores.hits_at_1},
                 {"hits@3", trial.scores.hits_at_3},
                 {"hits@10", trial.scores.hits_at_10},
                 {"mean_rank", trial.scores.mean_rank}});
  }
  json["epochs"] = trial.epochs_done;
  json["seconds"] = trial.seconds;
  if (place.failed) json["failure"] = trial.failure;
  for (std::size_t i = 0; i < space.options.size(); ++i) {
    json["options"][std::string(space.options[i].field->name)] = ValueJson(space.options[i], trial.values[i]);
  }
  return json;
}

void PrintJson(const TuneFlags& flags, const SearchOutcome& outcome) {
  const SearchPaths paths(flags.output);
  Json json = {{"end", EndName(outcome.end)}, {"seconds", outcome.seconds}, {"best", nullptr}};
  if (outcome.best) {
    json["best"] = *outcome.best;
    json["preset"] = paths.Preset().string();
    if (!outcome.halving.IsOut(*outcome.best)) json["run"] = paths.Trial(*outcome.best).folder().string();
  }
  json["rungs"] = Json::array();
  const std::vector<Rung>& rungs = outcome.halving.rungs();
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    json["rungs"].push_back(
        {{"epochs", rungs[i].epochs}, {"trials", rungs[i].trials}, {"done", outcome.halving.Done(i)}});
  }
  json["trials"] = Json::array();
  std::size_t rank = 0;
  for (const Halving::Place& place : outcome.halving.Ranking()) {
    const bool ranked = place.rung && !place.failed;
    rank += ranked ? 1 : 0;
    json["trials"].push_back(TrialJson(flags.search.space, outcome.trials[place.trial], place, ranked ? rank : 0));
  }
  fmt::print("{}\n", EscapeJsonControls(json.dump(2, ' ', false, Json::error_handler_t::replace)));
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
  if (outcome.trials.size() < flags.search.trials) {
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
        fmt::format("the --budget is spent after {}; {}; repeat the command with a larger one to "
                    "on",
                    DurationText(outcome.seconds), Standing(outcome)));
  } else if (!outcome.best) {
    return RuntimeError(
        fmt::format("{}: every trial has failed, the first one because: {}", flags.output, outcome.trials[0].failure));
  }
  if (outcome.best) {
    const SearchPaths paths(flags.output);
    program.reporter.Info(fmt::format(
        "the best {}: trial {}, in {}{}", outcome.end == SearchEnd::kDone ? "is" : "so far is", *outcome.best,
        paths.Preset().string(),
        outcome.halving.IsOut(*outcome.best) ? std::string()
                                             : ", its run in " + paths.Trial(*outcome.best).folder().string()));
  }
  return absl::OkStatus();
}

absl::Status RunTune(Program& program, TuneFlags& flags) {
  flags.search.graph = flags.graph;
  flags.search.folder = flags.output;
  ASSIGN_OR_RETURN(const std::filesystem::path space, FindPreset(flags.space, "tune"));
  ASSIGN_OR_RETURN(flags.search.space, LoadSearchSpace(space));
  ASSIGN_OR_RETURN(const std::vector<Rung> rungs, CheckSearch(flags.search));
  if (flags.dry_run) {
    for (const Rung& rung : rungs) {
      program.reporter.Info(fmt::format("{} to epoch {}", CountText(rung.trials, "trial"), rung.epochs));
    }
  }
  for (const std::string& note : SearchNotes(flags.search, rungs)) program.reporter.Info(note);
  if (flags.dry_run) {
    const absl::StatusOr<double> seconds =
        EstimateSearchSeconds(flags.search, MemoryLimit(program), ExistingFolder(flags.output));
    program.reporter.Info(fmt::format(
        "{} in all{}", CountText(EpochsOf(rungs), "epoch"),
        seconds.ok() ? fmt::format(", about {} of training here, and the validations", DurationText(*seconds))
                     : fmt::format("; no time is estimated: {}", MessageOf(seconds.status()))));
    program.reporter.Info("--dry-run: nothing was written");
    return absl::OkStatus();
  }
  CatchInterrupts();
  ASSIGN_OR_RETURN(const SearchOutcome outcome,
                   RunSearch(flags.search, MakeCallbacks(program, flags), &InterruptSignal()));
  program.reporter.EndProgress();
  if (flags.json) {
    PrintJson(flags, outcome);
  } else {
    PrintTable(flags.search.space, outcome);
  }
  return Conclude(program, flags, outcome);
}

}  // namespace

void AddTuneVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand(
      "tune",
      "Search for the options that train a graph best: random points of a space, the better ones trained longer");
  const auto flags = std::make_shared<TuneFlags>();
  TuneOptions& search = flags->search;
  RefuseEmpty(verb->add_option("--graph", flags->graph, "Graph folder with valid edges"))->required()->type_name("DIR");
  RefuseEmpty(verb->add_option("--space", flags->space,
                               "TOML file, or the name of an installed one: the options of octavo train, each a "
                               "value, an array of values, or a range { min, max, log, step }"))
      ->required()
      ->type_name("FILE");
  RefuseEmpty(verb->add_option("--output", flags->output,
                               "Folder of the search; an existing search with the same arguments is continued"))
      ->required()
      ->type_name("DIR");
  AddWholeNumber(*verb, "--trials", search.trials, 1, 10'000, "Points of the space");
  AddWholeNumber(*verb, "--epochs-least", search.epochs_least, 1, 1'000'000, "Epochs of every trial: the first rung");
  AddWholeNumber(*verb, "--epochs", search.epochs, 1, 1'000'000,
                 "Epochs of the best: the last rung. Linear and cosine learning rates span these in every trial");
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
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunTune(p, *flags); }; });
}

}  // namespace octavo
