#include "train/run_configuration.h"

#include <toml++/toml.h>
#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/file.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

// All options with a page of comments. A key of 20,000 dots makes as many tables, one within the other, and toml++
// takes stack for each, more than there is.
constexpr std::uint64_t kMaxTomlBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t kMaxRunJsonBytes = std::uint64_t{1} << 20;
constexpr int kRunFormatVersion = 1;

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string NearestKey(std::string_view key) {
  const auto fields = TrainOptionFields();
  const auto nearest = std::min_element(fields.begin(), fields.end(), [&](const auto& a, const auto& b) {
    return EditDistance(a.name, key) < EditDistance(b.name, key);
  });
  return std::string(nearest->name);
}

// Returns the value as the text that the field's parser takes, or empty where its type is not the field's.
std::optional<std::string> TomlText(const OptionField& field, const toml::node& node) {
  using Type = OptionField::Type;
  if (node.is_string() && field.type != Type::kWholeNumber && field.type != Type::kSwitch) {
    return node.as_string()->get();
  }
  if (node.is_integer() && field.type != Type::kText && field.type != Type::kSwitch) {
    return std::to_string(node.as_integer()->get());
  }
  if (node.is_floating_point() && field.type == Type::kRealNumber) {
    return fmt::format("{}", node.as_floating_point()->get());
  }
  if (node.is_boolean() && field.type == Type::kSwitch) return node.as_boolean()->get() ? "true" : "false";
  return std::nullopt;
}

// Returns a string's contents, other values as JSON; of an array or object the type only, since to write one out takes
// stack for each level of its nesting.
std::string JsonText(const nlohmann::json& value) {
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string TomlSource(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& typed) { out << typed; });
  return out.str();
}

}  // namespace

absl::Status LoadTomlConfiguration(const std::filesystem::path& path, TrainOptions& options) {
  absl::StatusOr<std::string> text = ReadWholeFile(path, kMaxTomlBytes);
  if (!text.ok()) return UsageError(MessageOf(text.status()));
  toml::table table;
  try {
    table = toml::parse(*text, path.string());
  } catch (const toml::parse_error& error) {
    return UsageError(fmt::format("{}:{}:{}: {}", path.string(), error.source().begin.line, error.source().begin.column,
                                  Escape(error.description(), 200)));
  }
  for (const auto& [key, node] : table) {
    const std::string where = fmt::format("{}:{}", path.string(), key.source().begin.line);
    const OptionField* field = FindTrainOption(key.str());
    if (field == nullptr) {
      return UsageError(
          fmt::format("{}: unknown key \"{}\"; did you mean {}?", where, Escape(key.str()), NearestKey(key.str())));
    }
    const std::optional<std::string> value = TomlText(*field, node);
    if (!value) {
      return UsageError(
          fmt::format("{}: {}: found {}; expected {}", where, field->name, Escape(TomlSource(node)), field->allowed));
    }
    RETURN_IF_ERROR(SetTrainOption(options, *field, *value, fmt::format("{}: {}", where, field->name)));
  }
  return absl::OkStatus();
}

std::string OptionJson(const OptionField& field, const TrainOptions& options) {
  const std::string value = field.format(options);
  const bool literal = field.type != OptionField::Type::kText && nlohmann::json::accept(value);
  return literal ? value : nlohmann::json(value).dump();
}

absl::Status WriteRunConfiguration(const std::filesystem::path& path, const RunConfiguration& configuration) {
  auto json = nlohmann::ordered_json::object();
  json["format"] = kRunFormatVersion;
  json["graph"] = configuration.graph.string();
  nlohmann::ordered_json& options = json["options"] = nlohmann::ordered_json::object();
  for (const OptionField& field : TrainOptionFields()) {
    options[std::string(field.name)] = nlohmann::ordered_json::parse(OptionJson(field, configuration.options));
  }
  try {
    return WriteWholeFileAtomically(path, json.dump(2) + "\n");
  } catch (const nlohmann::json::type_error&) {  // JSON is UTF-8, and another path would come back
    return UsageError(fmt::format("{}: the graph's path is not UTF-8; expected a folder that run.json can name",
                                  Escape(configuration.graph.string(), 4096)));
  }
}

absl::StatusOr<RunConfiguration> ReadRunConfiguration(const std::filesystem::path& path) {
  const absl::StatusOr<std::string> file = ReadWholeFile(path, kMaxRunJsonBytes);
  // Every run has one: to lack it is damage, not a wrong flag.
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
    // Its default would be another training, or another number of epochs.
    if (!field.recent && !json["options"].contains(field.name))
      return fail(fmt::format("no option \"{}\"", field.name));
  }
  RunConfiguration configuration;
  configuration.graph = json["graph"].get<std::string>();
  for (const auto& [key, value] : json["options"].items()) {
    const OptionField* field = FindTrainOption(key);
    if (field == nullptr) return fail(fmt::format("unknown option \"{}\"", Escape(key)));
    const std::string value_text = JsonText(value);
    if (!field->parse(configuration.options, value_text)) {
      return fail(fmt::format("{}: \"{}\" where {} belongs", key, Escape(value_text), field->allowed));
    }
  }
  return configuration;
}

}  // namespace octavo
