#include "run/option_toml.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/file.h"
#include "run/option_aliases.h"
#include "run/option_json.h"

namespace octavo {
namespace {

// Enough for all options with a page of comments. A key with 20,000 dots makes as many nested tables, and toml++ would
// overflow the stack on them.
constexpr std::uint64_t kMaxTomlBytes = std::uint64_t{16} << 10;

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

// Seeds may exceed TOML's largest whole number, 2^63 - 1.
bool IsPastToml(std::string_view text) {
  const std::optional<std::uint64_t> number = ParseWholeNumber(text);
  return number && *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

std::string NearestKey(std::string_view key) {
  if (const std::string_view meant = OptionMeantBy(key); !meant.empty()) return std::string(meant);
  const auto fields = TrainOptionFields();
  const auto nearest = std::min_element(fields.begin(), fields.end(), [&](const auto& a, const auto& b) {
    return EditDistance(a.name, key) < EditDistance(b.name, key);
  });
  return std::string(nearest->name);
}

}  // namespace

absl::StatusOr<toml::table> ReadTomlFile(const std::filesystem::path& path) {
  absl::StatusOr<std::string> text = ReadWholeFile(path, kMaxTomlBytes);
  if (!text.ok()) return UsageError(MessageOf(text.status()));
  try {
    return toml::parse(*text, path.string());
  } catch (const toml::parse_error& error) {
    return UsageError(fmt::format("{}:{}:{}: {}", path.string(), error.source().begin.line, error.source().begin.column,
                                  Escape(error.description(), 200)));
  }
}

absl::Status RefuseTable(const toml::key& key, const toml::node& node, const std::filesystem::path& path) {
  if (!node.is_table() && !node.is_array_of_tables()) return absl::OkStatus();
  return UsageError(fmt::format("{}:{}: found the table \"{}\"; expected all keys at the top level, not in [{}]",
                                path.string(), key.source().begin.line, Escape(key.str()), Escape(key.str())));
}

absl::StatusOr<const OptionField*> FieldOfTomlKey(const toml::key& key, const toml::node& node,
                                                  const std::filesystem::path& path) {
  if (const OptionField* field = FindTrainOption(key.str())) return field;
  RETURN_IF_ERROR(RefuseTable(key, node, path));
  return UsageError(fmt::format("{}:{}: unknown key \"{}\"; did you mean {}?", path.string(), key.source().begin.line,
                                Escape(key.str()), NearestKey(key.str())));
}

std::optional<std::string> TomlText(const OptionField& field, const toml::node& node) {
  using Type = OptionField::Type;
  if (node.is_string() && field.type == Type::kWholeNumber && IsPastToml(node.as_string()->get())) {
    return node.as_string()->get();
  }
  const bool takes_words = field.type == Type::kRealNumber || field.type == Type::kWholeNumberOrText;
  if (node.is_string() && (field.type == Type::kText || takes_words)) {
    const std::string& text = node.as_string()->get();
    if (takes_words && ParseRealNumber(text)) return std::nullopt;  // "0.5" is not the number 0.5
    return text;
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

std::string TomlLine(const OptionField& field, const TrainOptions& options) {
  // Numbers, switches and strings have the same syntax in JSON.
  const std::string value = OptionJson(field, options);
  const std::string_view quote = IsPastToml(value) ? "\"" : "";
  return fmt::format("{} = {}{}{}\n", field.name, quote, value, quote);
}

std::string TomlSource(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& typed) { out << typed; });
  return out.str();
}

}  // namespace octavo
