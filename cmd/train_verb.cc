// octavo train: trains a new run.

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/program.h"
#include "cmd/training.h"
#include "fmt/format.h"
#include "train/options.h"
#include "train/run_configuration.h"

namespace octavo {
namespace {

struct TrainFlags {
  std::string graph;
  std::string run;
  std::string config;
  bool overwrite = false;
  // What was given on the command line, by name of the field; it goes over what the file says.
  std::map<std::string, std::string, std::less<>> given;
  std::map<std::string, std::string, std::less<>> switches;  // empty where not given
};

void AddField(CLI::App& app, const OptionField& field, TrainFlags& flags) {
  const std::string name(field.name);
  const std::string flag = "--" + name;
  const std::string help = fmt::format("{} ({})", field.help, field.allowed);
  const std::string default_text = field.format(TrainOptions());
  if (field.type == OptionField::Type::kSwitch) {
    // "true" where it stands alone; as text, because --reciprocal=perhaps is no number either.
    app.add_flag(flag, flags.switches[name], std::string(field.help))->group(fmt::format("The {}", field.group));
    return;
  }
  const auto take = [&flags, &field, name, flag](const std::string& text) {
    TrainOptions scratch;
    const absl::Status status = SetTrainOption(scratch, field, text, flag);
    if (!status.ok()) throw CLI::ValidationError(std::string(MessageOf(status)));
    flags.given[name] = text;
  };
  const bool text = field.type == OptionField::Type::kText;
  app.add_option_function<std::string>(flag, take, help)
      ->type_name(text ? "NAME" : "N")
      ->default_str(default_text)
      ->group(fmt::format("The {}", field.group));
}

absl::StatusOr<TrainOptions> ReadOptions(const TrainFlags& flags) {
  TrainOptions options;
  if (!flags.config.empty()) RETURN_IF_ERROR(LoadTomlConfiguration(flags.config, options));
  for (const auto& [name, value] : flags.given) {
    RETURN_IF_ERROR(SetTrainOption(options, *FindTrainOption(name), value, "--" + name));
  }
  for (const auto& [name, value] : flags.switches) {
    if (value.empty()) continue;
    RETURN_IF_ERROR(SetTrainOption(options, *FindTrainOption(name), value, "--" + name));
  }
  RETURN_IF_ERROR(ValidateTrainOptions(options));
  return options;
}

absl::Status RunTrain(Program& program, const TrainFlags& flags) {
  ASSIGN_OR_RETURN(const TrainOptions options, ReadOptions(flags));
  for (const OptionField& field : TrainOptionFields()) {
    program.reporter.Detail(fmt::format("{} = {}", field.name, field.format(options)));
  }
  return RunTraining(program, flags.run, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
    return StartRun(flags.graph, flags.run, options, flags.overwrite, settings, callbacks);
  });
}

}  // namespace

void AddTrainVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("train", "Train embeddings of an imported graph in a new run folder");
  const auto flags = std::make_shared<TrainFlags>();
  verb->add_option("--graph", flags->graph, "Graph folder that octavo import made")->required()->type_name("DIR");
  verb->add_option("--run", flags->run, "Run folder to make")->required()->type_name("DIR");
  verb->add_option("--config", flags->config, "TOML file with the options below; flags go over it")->type_name("FILE");
  verb->add_flag("--overwrite", flags->overwrite, "Remove a run that is there already");
  for (const OptionField& field : TrainOptionFields()) AddField(*verb, field, *flags);
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunTrain(p, *flags); }; });
}

}  // namespace octavo
