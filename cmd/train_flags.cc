#include "cmd/train_flags.h"

#include <CLI/App.hpp>
#include <chrono>
#include <filesystem>
#include <memory>

#include "base/escape.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "choose/timed_choice.h"
#include "cmd/duration_flag.h"
#include "cmd/flags.h"
#include "cmd/presets.h"
#include "fmt/format.h"
#include "graph/graph.h"
#include "run/option_rules.h"
#include "run/run_configuration.h"

namespace octavo {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kNone = "none";

void AddField(CLI::App& app, const OptionField& field, TrainFlags& flags) {
  const std::string name(field.name);
  const std::string flag = "--" + name;
  const bool named = field.type == OptionField::Type::kText;
  const std::string help = named ? std::string(field.help) : fmt::format("{} ({})", field.help, field.allowed);
  const std::string default_text = field.format(TrainOptions());
  if (field.type == OptionField::Type::kSwitch) {
    // "true" if it has no value. Read as text, because --reciprocal=perhaps must be an error too.
    app.add_flag(flag, flags.switches[name], std::string(field.help))->group(fmt::format("The {}", field.section));
    return;
  }
  const auto take = [&flags, &field, name, flag](const std::string& text) {
    TrainOptions scratch;
    if (flags.chooses && text == kAuto && !field.parse(scratch, text)) {
      flags.chosen.insert(name);
      return;
    }
    const absl::Status status = SetTrainOption(scratch, field, text, flag);
    if (!status.ok()) throw CLI::ValidationError(std::string(MessageOf(status)));
    flags.given[name] = text;
  };
  const std::string type = named                 ? fmt::format("NAME:{{{}}}", fmt::join(field.words, ","))
                           : field.words.empty() ? "N"
                                                 : fmt::format("N|{}", fmt::join(field.words, "|"));
  app.add_option_function<std::string>(flag, take, help)
      ->type_name(type)
      ->default_str(default_text)
      ->group(fmt::format("The {}", field.section));
}

// The values of files and flags, not checked as a whole.
absl::StatusOr<TrainOptions> ReadValues(const TrainFlags& flags, const TrainOptions& defaults) {
  TrainOptions options = defaults;
  const bool preset = flags.preset != kAuto && flags.preset != kNone;
  if (preset && !flags.config.empty()) {
    return UsageError(
        fmt::format("--preset {} and --config {}: found both; expected one of them", flags.preset, flags.config));
  }
  const std::string& file = preset ? flags.preset : flags.config;
  if (!file.empty()) {
    ASSIGN_OR_RETURN(const std::filesystem::path path, FindPreset(file, "train", preset ? "--preset" : "--config"));
    RETURN_IF_ERROR(LoadTomlConfiguration(path, options));
  }
  for (const auto& [name, value] : flags.given) {
    RETURN_IF_ERROR(SetTrainOption(options, *FindTrainOption(name), value, "--" + name));
  }
  for (const auto& [name, value] : flags.switches) {
    if (value.empty()) continue;
    RETURN_IF_ERROR(SetTrainOption(options, *FindTrainOption(name), value, "--" + name));
  }
  return options;
}

absl::Status CheckOptions(const TrainFlags& flags, const TrainOptions& options) {
  RETURN_IF_ERROR(ValidateTrainOptions(options));
  RETURN_IF_ERROR(CheckEffects(options, [&](std::string_view name) { return flags.given.contains(name); }));
  // Runs that have both can be resumed, so this only checks the flags.
  if (options.reciprocal && options.model_spec().RelationWidth() == 0) {
    return UsageError(fmt::format("reciprocal has no meaning for the {} model, which has no relation parameters",
                                  ModelName(options.model)));
  }
  return absl::OkStatus();
}

// A preset gives every option, by its defaults if not by its lines.
GivenOptions GivenBy(const TrainFlags& flags) {
  GivenOptions given;
  const bool chooses = flags.chooses && flags.config.empty() && flags.preset == kAuto;
  for (const OptionField& field : TrainOptionFields()) {
    const auto switched = flags.switches.find(field.name);
    const bool flag =
        flags.given.contains(field.name) || (switched != flags.switches.end() && !switched->second.empty());
    if (flag || (!chooses && !flags.chosen.contains(field.name))) given.emplace(field.name);
  }
  return given;
}

}  // namespace

void AddPresetFlag(CLI::App& app, TrainFlags& flags) {
  flags.chooses = true;
  RefuseEmpty(app.add_option("--preset", flags.preset,
                             "auto chooses every option of the training that is not given from the graph; none, or "
                             "--config, takes the defaults that this help shows; the name of an installed preset is "
                             "as with --config"))
      ->type_name("NAME")
      ->capture_default_str();
  AddDuration(app, "--time", flags.seconds,
              "Choose dimension, negatives, walks and epochs so that the training takes this time on this machine, "
              "measured first (such as 90s, 30m or 2h)");
}

void AddTrainFlags(CLI::App& app, TrainFlags& flags) {
  RefuseEmpty(app.add_option("--graph", flags.graph, "Graph folder that octavo import made"))
      ->required()
      ->type_name("DIR");
  AddTrainOptionFlags(app, flags);
}

void AddTrainOptionFlags(CLI::App& app, TrainFlags& flags) {
  RefuseEmpty(app.add_option("--config", flags.config,
                             "TOML file with the options below, or the name of an installed preset; flags override it"))
      ->type_name("FILE");
  for (const OptionField& field : TrainOptionFields()) AddField(app, field, flags);
}

void AddTrainOptionFlag(CLI::App& app, std::string_view name, TrainFlags& flags) {
  AddField(app, *FindTrainOption(name), flags);
  app.get_option("--" + std::string(name))->default_str("");
}

absl::StatusOr<TrainOptions> ReadTrainOptions(const TrainFlags& flags, const TrainOptions& defaults) {
  ASSIGN_OR_RETURN(const TrainOptions options, ReadValues(flags, defaults));
  RETURN_IF_ERROR(CheckOptions(flags, options));
  return options;
}

bool TimeChoosesEpochs(const TrainFlags& flags) { return !flags.graph.empty() && !GivenBy(flags).contains("epochs"); }

std::filesystem::path ProbeFolder(const std::string& run) {
  std::filesystem::path folder = run.empty() ? "." : std::filesystem::absolute(run);
  std::error_code error;
  while (!std::filesystem::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

absl::StatusOr<SettledOptions> SettleTrainOptions(const TrainFlags& flags, const std::string& run, std::uint64_t memory,
                                                  int threads, const std::function<bool()>& stop,
                                                  const BeforeChoice& before) {
  const auto begin = std::chrono::steady_clock::now();
  SettledOptions settled;
  ASSIGN_OR_RETURN(settled.options, ReadValues(flags, {}));
  if (flags.seconds > 0 && !TimeChoosesEpochs(flags)) {
    return UsageError(
        fmt::format("--time chooses the epochs: found {}; expected --time alone, or --epochs auto with it",
                    flags.graph.empty()              ? std::string("no --graph")
                    : flags.given.contains("epochs") ? "epochs that are given"
                    : flags.config.empty()           ? "those of --preset " + flags.preset
                                                     : "those of --config " + flags.config));
  }
  const GivenOptions given = GivenBy(flags);
  if (!flags.graph.empty() && given.size() < TrainOptionFields().size()) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(flags.graph));
    if (graph->description().train_edges > 0) {  // otherwise the training refuses it
      ASSIGN_OR_RETURN(const GraphFacts facts, MeasureFacts(*graph, memory));
      if (flags.seconds > 0) {
        ASSIGN_OR_RETURN(settled.choice, ChooseForTime(*graph, facts, memory, settled.options, given,
                                                       {.seconds = flags.seconds,
                                                        .spent = before.seconds + SecondsSince(begin),
                                                        .folder = ProbeFolder(run),
                                                        .threads = threads,
                                                        .stop = stop,
                                                        .found = before.found}));
      } else {
        settled.choice = ChooseOptions(facts, graph->description(), memory, settled.options, given);
        settled.source = {.facts = facts,
                          .graph = graph->description(),
                          .memory = memory,
                          .options = settled.options,
                          .given = given};
      }
      settled.options = settled.choice->options;
    }
  }
  RETURN_IF_ERROR(CheckOptions(flags, settled.options));
  return settled;
}

}  // namespace octavo
