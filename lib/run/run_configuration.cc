#include "run/run_configuration.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/sealed_json.h"
#include "io/file.h"
#include "nlohmann/json.hpp"
#include "run/option_json.h"
#include "run/option_toml.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMaxRunJsonBytes = std::uint64_t{1} << 20;
constexpr int kRunFormatVersion = 1;

// Returns the contents of a string, and other values as JSON. Of an array or object only the type: printing one uses
// stack for each level of nesting.
std::string JsonText(const nlohmann::json& value) {
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

absl::Status LoadTomlConfiguration(const std::filesystem::path& path, TrainOptions& options) {
  ASSIGN_OR_RETURN(const toml::table table, ReadTomlFile(path));
  for (const auto& [key, node] : table) {
    ASSIGN_OR_RETURN(const OptionField* field, FieldOfTomlKey(key, node, path));
    const std::string where = fmt::format("{}:{}", path.string(), key.source().begin.line);
    const std::optional<std::string> value = TomlText(*field, node);
    if (!value) {
      return UsageError(
          fmt::format("{}: {}: found {}; expected {}", where, field->name, Escape(TomlSource(node)), field->allowed));
    }
    RETURN_IF_ERROR(SetTrainOption(options, *field, *value, fmt::format("{}: {}", where, field->name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeRunConfiguration(const RunConfiguration& configuration) {
  auto json = nlohmann::ordered_json::object();
  json["format"] = kRunFormatVersion;
  json["graph"] = configuration.graph.string();
  if (configuration.init.given()) {
    nlohmann::ordered_json& init = json["init"] = nlohmann::ordered_json::object();
    init["source"] = configuration.init.source.string();
    if (!configuration.init.names.empty()) init["names"] = configuration.init.names.string();
    init["optimizer_state"] = configuration.init.optimizer_state;
  }
  nlohmann::ordered_json& options = json["options"] = nlohmann::ordered_json::object();
  for (const OptionField& field : TrainOptionFields()) {
    options[std::string(field.name)] = nlohmann::ordered_json::parse(OptionJson(field, configuration.options));
  }
  try {
    json[std::string(kSealKey)] = kNoSeal;
    return SealJson(json.dump(2) + "\n");
  } catch (const nlohmann::json::type_error&) {  // JSON is UTF-8: reading would give another path
    return UsageError(
        fmt::format("{}: the path of the graph, or of what --init names, is not UTF-8; expected one that "
                    "run.json can name",
                    Escape(configuration.graph.string(), 4096)));
  }
}

absl::Status WriteRunConfiguration(const std::filesystem::path& path, const RunConfiguration& configuration) {
  ASSIGN_OR_RETURN(const std::string text, EncodeRunConfiguration(configuration));
  return WriteWholeFileAtomically(path, text);
}

absl::StatusOr<RunConfiguration> ReadRunConfiguration(const std::filesystem::path& path) {
  const absl::StatusOr<std::string> file = ReadWholeFile(path, kMaxRunJsonBytes);
  // Every run has one: if missing, the run is damaged; the flag is not wrong.
  if (!file.ok() && KindOf(file.status()) == ErrorKind::kUsage) return CorruptError(MessageOf(file.status()));
  ASSIGN_OR_RETURN(const std::string text, file);
  const auto fail = [&](std::string_view found) {
    return CorruptError(fmt::format("{}: {}; expected the run.json of a run", path.string(), found));
  };
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("format") || !json.contains("graph") || !json.contains("options")) {
    return fail("no JSON object with format, graph and options");
  }
  if (json["format"] != kRunFormatVersion) return fail(fmt::format("format {}", Escape(JsonText(json["format"]))));
  if (!json["graph"].is_string() || !json["options"].is_object()) return fail("graph or options of another type");
  for (const OptionField& field : TrainOptionFields()) {
    // A default would mean another training, or another number of epochs.
    if (!field.recent && !json["options"].contains(field.name))
      return fail(fmt::format("no option \"{}\"", field.name));
  }
  RunConfiguration configuration;
  configuration.graph = json["graph"].get<std::string>();
  if (const auto init = json.find("init"); init != json.end()) {
    const auto is = [&](std::string_view key, auto matches) {
      const auto value = init->find(key);
      return value != init->end() && matches(*value);
    };
    const auto is_text = [](const nlohmann::json& value) { return value.is_string(); };
    if (!init->is_object() || !is("source", is_text) ||
        !is("optimizer_state", [](const nlohmann::json& value) { return value.is_boolean(); })) {
      return fail("an init without its source and optimizer_state");
    }
    configuration.init = {.source = (*init)["source"].get<std::string>(),
                          .names = is("names", is_text) ? (*init)["names"].get<std::string>() : "",
                          .optimizer_state = (*init)["optimizer_state"].get<bool>()};
  }
  for (const auto& [key, value] : json["options"].items()) {
    const OptionField* field = FindTrainOption(key);
    if (field == nullptr) return fail(fmt::format("unknown option \"{}\"", Escape(key)));
    const std::string value_text = JsonText(value);
    if (!field->parse(configuration.options, value_text)) {
      return fail(fmt::format("{}: \"{}\" where {} belongs", key, Escape(value_text), field->allowed));
    }
  }
  for (const auto& [key, value] : json.items()) {
    constexpr std::string_view kKeys[] = {"format", "graph", "init", "options", kSealKey};
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) return fail(fmt::format("unknown key \"{}\"", Escape(key)));
  }
  RETURN_IF_ERROR(CheckSeal(text, json.contains(kSealKey), path.string()));
  return configuration;
}

}  // namespace octavo
