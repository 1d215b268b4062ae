// octavo train: trains a new run.

#include <CLI/App.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/stopwatch.h"
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
  std::uint64_t trials = kMostChanges;
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

// After the checks of the training, which refuse what is in the way of the run. Within `seconds`, unless 0.
absl::Status CompareChanges(Program& program, const NewRunFlags& flags, double seconds, SettledOptions& settled) {
  RETURN_IF_ERROR(
      CheckStart(flags.train.graph, flags.run, settled.options, flags.overwrite, SettingsOf(program)).status());
  RETURN_IF_ERROR(
      TakeBetterChange(program, flags.train.graph, flags.run, *settled.source, flags.trials, seconds, *settled.choice));
  settled.options = settled.choice->options;
  return absl::OkStatus();
}

// For --time: compares by the sizes that are chosen without it, and gives `train` what is better.
absl::Status GiveBetterChange(Program& program, const NewRunFlags& flags, TrainFlags& train) {
  constexpr double kMostOfTime = 0.2;
  TrainFlags untimed = train;
  untimed.seconds = 0;
  ASSIGN_OR_RETURN(SettledOptions settled,
                   SettleTrainOptions(untimed, flags.run, MemoryLimit(program), ThreadCount(program)));
  if (!settled.source) return absl::OkStatus();
  const TrainOptions chosen = settled.options;
  RETURN_IF_ERROR(CompareChanges(program, flags, kMostOfTime * train.seconds, settled));
  for (const OptionField& field : TrainOptionFields()) {
    if (field.format(settled.options) == field.format(chosen)) continue;
    auto& given = field.type == OptionField::Type::kSwitch ? train.switches : train.given;
    given[std::string(field.name)] = field.format(settled.options);
  }
  return absl::OkStatus();
}

// In a job only the first rank settles the options. The others wait for it, so a request to stop is fulfilled by the
// training.
absl::StatusOr<SettledOptions> Settle(Program& program, const NewRunFlags& flags, TrainFlags train, bool compares) {
  if (program.ranks != nullptr && !program.ranks->first()) return SettledOptions();
  const auto begin = std::chrono::steady_clock::now();
  const std::function<bool()> stop = program.ranks == nullptr ? Interrupted : std::function<bool()>();
  if (stop && train.seconds > 0) CatchInterrupts();
  if (compares && train.seconds > 0) RETURN_IF_ERROR(GiveBetterChange(program, flags, train));
  return SettleTrainOptions(train, flags.run, MemoryLimit(program), ThreadCount(program), stop, SecondsSince(begin));
}

absl::Status RunTrain(Program& program, const NewRunFlags& flags) {
  RETURN_IF_ERROR(JoinJob(program));
  CatchTrainingRequests();  // the measurement of --time takes seconds, which a request must not end
  ASSIGN_OR_RETURN(const TrainFlags train, FollowSource(flags.init, flags.train));
  const bool compares = program.ranks == nullptr && flags.init.empty() && !flags.print_config && !flags.dry_run;
  absl::StatusOr<SettledOptions> found = Settle(program, flags, train, compares);
  if (EndedByInterrupt(program, found.status(), flags.run.empty() ? "the choice" : flags.run)) return absl::OkStatus();
  ASSIGN_OR_RETURN(SettledOptions settled, std::move(found));
  if (program.ranks != nullptr) RETURN_IF_ERROR(ShareOptions(*program.ranks, settled.options));
  if (flags.print_config) {
    PrintConfiguration(settled.options);
    return absl::OkStatus();
  }
  ReportChoice(program.reporter, settled.choice);
  if (flags.init.empty() && (!flags.init_names.empty() || !flags.init_graph.empty() || flags.init_state != "auto")) {
    return UsageError(
        "--init-names, --init-graph and --init-state describe the source of --init; expected --init as well");
  }
  if (!flags.init.empty() && flags.init_graph.empty()) RETURN_IF_ERROR(CheckGraphPlace(flags.init, "--init-graph"));
  const InitialSource init = {.source = flags.init,
                              .names = flags.init_names,
                              .optimizer_state = flags.init_state == "auto",
                              .graph = flags.init_graph};
  if (flags.dry_run) {
    ASSIGN_OR_RETURN(const TrainingStart start, CheckStart(flags.train.graph, flags.run, settled.options,
                                                           flags.overwrite, SettingsOf(program), init));
    if (settled.source && flags.init.empty()) {
      ReportComparison(program.reporter, *settled.source, flags.trials, *settled.choice);
    }
    ReportStart(program, flags.run, start);
    return absl::OkStatus();
  }
  if (settled.source && compares) {
    const absl::Status compared = CompareChanges(program, flags, /*seconds=*/0, settled);
    if (EndedByInterrupt(program, compared, flags.run)) return absl::OkStatus();
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
  AddWholeNumber(*verb, "--trials", flags->trials, 0, kMostChanges,
                 "Changes of what is chosen to compare with it by short trainings, on small graphs with valid edges");
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
