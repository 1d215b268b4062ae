// octavo train: trains a new run.

#include <CLI/App.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/stopwatch.h"
#include "checkpoint/run_lock.h"
#include "cmd/compared_choice.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/job.h"
#include "cmd/limits.h"
#include "cmd/opened_run.h"
#include "cmd/program.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"
#include "cmd/version_facts.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "run/option_toml.h"
#include "run/options.h"
#include "run/run_configuration.h"
#include "tune/candidates.h"
#include "tune/short_trials.h"

namespace octavo {
namespace {

struct NewRunFlags {
  TrainFlags train;
  std::string run;
  std::string init;
  std::string init_names;
  std::string init_graph;
  std::string init_state = "auto";
  std::uint64_t changes = kMostChanges;
  bool overwrite = false;
  bool print_config = false;
  bool dry_run = false;
};

// As TOML for --config.
void PrintConfiguration(const TrainOptions& options) {
  fmt::print("# octavo {}, octavo train --print-config\n", kVersion);
  std::string_view section;
  for (const OptionField& field : TrainOptionFields()) {
    if (field.section != std::exchange(section, field.section)) fmt::print("\n# The {}\n", section);
    fmt::print("{}", TomlLine(field, options));
  }
}

// The flags with what a warm start takes over from the run that it starts from: rows fit only a model of their width.
// For a preset or a file of options, which give all of them, nothing is taken over.
absl::StatusOr<TrainFlags> FollowSource(const std::string& source, TrainFlags flags) {
  const bool chooses = flags.config.empty() && flags.preset == "auto";
  const RunPaths paths(source);
  std::error_code missing;  // or a file of vectors
  if (source.empty() || !chooses || !std::filesystem::exists(paths.Configuration(), missing)) return flags;
  ASSIGN_OR_RETURN(const RunConfiguration followed, ReadRunConfiguration(paths.Configuration()));
  for (const std::string_view name : {"model", "dim", "optimizer"}) {
    flags.given.emplace(name, FindTrainOption(name)->format(followed.options));
  }
  std::string& reciprocal = flags.switches["reciprocal"];
  const bool other_model = flags.given.at("model") != FindTrainOption("model")->format(followed.options);
  if (reciprocal.empty() && !other_model) reciprocal = followed.options.reciprocal ? "true" : "false";
  return flags;
}

absl::Status CheckInit(const NewRunFlags& flags) {
  const bool described = !flags.init_names.empty() || !flags.init_graph.empty() || flags.init_state != "auto";
  if (!flags.init.empty() || !described) return absl::OkStatus();
  return UsageError(
      "--init-names, --init-graph and --init-state describe the source of --init; expected --init as well");
}

// Takes the lock of the run, if there is one, and lets it go.
absl::Status CheckNotInUse(const RunPaths& run) {
  std::error_code ignored;
  if (!std::filesystem::exists(run.Lock(), ignored)) return absl::OkStatus();
  return RunLock::Take(run.Lock()).status();
}

// After the checks of the training, which refuse what is in the way of the run.
absl::Status CompareChanges(Program& program, const NewRunFlags& flags, std::vector<ShortTrial> trials,
                            SettledOptions& settled) {
  RETURN_IF_ERROR(
      CheckStart(flags.train.graph, flags.run, settled.options, flags.overwrite, SettingsOf(program)).status());
  RETURN_IF_ERROR(CheckNotInUse(RunPaths(flags.run)));
  RETURN_IF_ERROR(
      TakeBetterChange(program, flags.train.graph, flags.run, *settled.source, std::move(trials), *settled.choice));
  settled.options = settled.choice->options;
  return absl::OkStatus();
}

// With --time: compares what would be chosen without it with changes of that, and gives what is taken to `train`. For a
// dry run, returns the trials instead. `before` is for the choice for the rest of the time.
absl::StatusOr<std::vector<ShortTrial>> CompareWithinTime(Program& program, const NewRunFlags& flags, TrainFlags& train,
                                                          BeforeChoice& before) {
  const auto begin = std::chrono::steady_clock::now();
  CatchInterrupts();
  ASSIGN_OR_RETURN(TimedComparison comparison, PlanTimedTrials(program, train, flags.run, flags.changes));
  std::vector<ShortTrial>& trials = comparison.timed.trials;
  if (flags.dry_run) {
    before.seconds = comparison.timed.seconds;
    return std::move(trials);
  }
  if (!trials.empty()) {
    program.reporter.Info(fmt::format("without a time, the chosen options are {}", comparison.settled.choice->chosen));
    const TrainOptions chosen = comparison.settled.options;
    RETURN_IF_ERROR(CompareChanges(program, flags, std::move(trials), comparison.settled));
    const TrainOptions& taken = comparison.settled.options;
    for (const OptionField* field : DifferingOptions(taken, chosen)) {
      train.given[std::string(field->name)] = field->format(taken);
      before.found.emplace(field->name);
    }
  }
  before.seconds = SecondsSince(begin);
  return std::vector<ShortTrial>();
}

absl::Status RunTrain(Program& program, const NewRunFlags& flags) {
  RETURN_IF_ERROR(JoinJob(program));
  CatchTrainingRequests();  // the measurement of --time takes seconds, which a request must not end
  ASSIGN_OR_RETURN(TrainFlags train, FollowSource(flags.init, flags.train));
  RETURN_IF_ERROR(CheckInit(flags));
  std::vector<ShortTrial> trials;
  BeforeChoice before;
  if (train.seconds > 0 && program.ranks == nullptr && flags.init.empty() && !flags.print_config) {
    absl::StatusOr<std::vector<ShortTrial>> compared = CompareWithinTime(program, flags, train, before);
    if (EndedByInterrupt(program, compared.status(), flags.run, UncommittedFate(RunPaths(flags.run)))) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(trials, std::move(compared));
  }
  SettledOptions settled;
  if (program.ranks == nullptr || program.ranks->first()) {
    // The other ranks wait for what is chosen, so a job's request is fulfilled by the training.
    const std::function<bool()> stop = program.ranks == nullptr ? Interrupted : std::function<bool()>();
    if (stop && train.seconds > 0) CatchInterrupts();
    absl::StatusOr<SettledOptions> found =
        SettleTrainOptions(train, flags.run, MemoryLimit(program), ThreadCount(program), stop, before);
    if (EndedByInterrupt(program, found.status(), flags.run.empty() ? "the choice" : flags.run)) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(settled, std::move(found));
  }
  if (program.ranks != nullptr) RETURN_IF_ERROR(ShareOptions(*program.ranks, settled.options));
  if (flags.print_config) {
    PrintConfiguration(settled.options);
    return absl::OkStatus();
  }
  ReportChoice(program.reporter, settled.choice);
  if (!flags.init.empty() && flags.init_graph.empty()) RETURN_IF_ERROR(CheckGraphPlace(flags.init, "--init-graph"));
  const InitialSource init = {.source = flags.init,
                              .names = flags.init_names,
                              .optimizer_state = flags.init_state == "auto",
                              .graph = flags.init_graph};
  if (settled.source && program.ranks == nullptr && flags.init.empty()) {
    trials = MakeShortTrials(*settled.source, *settled.choice, flags.changes);
  }
  if (flags.dry_run) {
    ASSIGN_OR_RETURN(const TrainingStart start, CheckStart(flags.train.graph, flags.run, settled.options,
                                                           flags.overwrite, SettingsOf(program), init));
    ReportComparison(program.reporter, trials);
    ReportStart(program, flags.run, start);
    return absl::OkStatus();
  }
  if (!trials.empty()) {
    const absl::Status compared = CompareChanges(program, flags, std::move(trials), settled);
    if (EndedByInterrupt(program, compared, flags.run, UncommittedFate(RunPaths(flags.run)))) return absl::OkStatus();
    RETURN_IF_ERROR(compared);
  }
  const TrainOptions& options = settled.options;
  for (const OptionField& field : TrainOptionFields()) {
    program.reporter.Detail(fmt::format("{} = {}", field.name, field.format(options)));
  }
  return RunTraining(program, flags.run, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
    return StartRun(flags.train.graph, flags.run, options, flags.overwrite, settings, callbacks, init);
  });
}

}  // namespace

void AddTrainVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("train", "Train embeddings of an imported graph in a new run folder");
  const auto flags = std::make_shared<NewRunFlags>();
  CLI::Option* run = RefuseEmpty(verb->add_option("--run", flags->run, "Run folder to make"));
  run->required()->type_name("DIR");
  verb->add_flag("--overwrite", flags->overwrite, "Replace an existing run");
  RefuseEmpty(
      verb->add_option("--init", flags->init,
                       "Run folder, .npy or word2vec file with initial vectors for the nodes of the same names"))
      ->type_name("SOURCE");
  RefuseEmpty(verb->add_option("--init-names", flags->init_names, "Names of the rows of a .npy file, one per line"))
      ->type_name("FILE");
  RefuseEmpty(verb->add_option("--init-graph", flags->init_graph,
                               "Graph folder of a run, if it is no longer where its training found it"))
      ->type_name("DIR");
  verb->add_option("--init-state", flags->init_state,
                   "Optimizer state of the run: auto uses it if the optimizer is the same, none starts from zero")
      ->check(CLI::IsMember({"auto", "none"}))
      ->capture_default_str();
  AddPresetFlag(*verb, flags->train);
  AddWholeNumber(
      *verb, "--changes", flags->changes, 0, kMostChanges,
      "Compare so many changes of the chosen options by short trainings, on small graphs (a whole number from 0 to 4)");
  AddTrainFlags(*verb, flags->train);
  verb->add_flag("--dry-run", flags->dry_run, "Check everything and report what would be trained, but write nothing");
  const auto print_config = [flags, run, graph = verb->get_option("--graph")](std::int64_t) {
    flags->print_config = true;
    run->required(false);
    graph->required(false);
  };
  verb->add_flag_function("--print-config", print_config,
                          "Print the options and their values as TOML for --config and exit; needs no folder");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunTrain(p, *flags); }; });
}

}  // namespace octavo
