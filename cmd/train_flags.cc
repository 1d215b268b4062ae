#include "cmd/train_flags.h"

#include <CLI/App.hpp>
#include <filesystem>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/presets.h"
#include "fmt/format.h"
#include "run/run_configuration.h"

namespace octavo {
namespace {

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

}  // namespace

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
  TrainOptions options = defaults;
  if (!flags.config.empty()) {
    ASSIGN_OR_RETURN(const std::filesystem::path preset, FindPreset(flags.config, "train"));
    RETURN_IF_ERROR(LoadTomlConfiguration(preset, options));
  }
  for (const auto& [name, value] : flags.given) {
    RETURN_IF_ERROR(SetTrainOption(options, *FindTrainOption(name), value, "--" + name));
  }
  for (const auto& [name, value] : flags.switches) {
    if (value.empty()) continue;
    RETURN_IF_ERROR(SetTrainOption(options, *FindTrainOption(name), value, "--" + name));
  }
  RETURN_IF_ERROR(ValidateTrainOptions(options));
  // Runs that have both can be resumed, so this only checks the flags.
  if (options.reciprocal && options.model_spec().RelationWidth() == 0) {
    return UsageError(fmt::format("reciprocal has no meaning for the {} model, which has no relation parameters",
                                  ModelName(options.model)));
  }
  return options;
}

}  // namespace octavo
