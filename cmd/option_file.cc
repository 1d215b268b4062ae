#include "cmd/option_file.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "cmd/usage.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"
#include "run/option_toml.h"

namespace octavo {
namespace {

std::string KeyOf(const CLI::Option* option) { return option->get_lnames()[0]; }

bool IsWhole(const CLI::Option* option) { return option->get_type_name() == "N"; }
bool IsReal(const CLI::Option* option) { return option->get_type_name() == "F"; }

// TOML's largest whole number is 2^63 - 1; larger ones are strings.
bool IsPastToml(std::string_view text) { return ParseWholeNumber(text).value_or(0) > INT64_MAX; }

// The value as text for the flag; empty if its type is wrong.
std::optional<std::string> TextOf(const CLI::Option* option, const toml::node& node) {
  if (const auto* whole = node.as_integer(); whole != nullptr && (IsWhole(option) || IsReal(option))) {
    return std::to_string(whole->get());
  }
  if (const auto* real = node.as_floating_point(); real != nullptr && IsReal(option)) {
    return fmt::format("{}", real->get());
  }
  const auto* text = node.as_string();
  if (text == nullptr || IsReal(option) || (IsWhole(option) && !IsPastToml(text->get()))) return std::nullopt;
  return text->get();
}

std::vector<CLI::Option*> GroupOf(CLI::App& verb, std::string_view group) {
  return verb.get_options([&](const CLI::Option* option) { return option->get_group() == group; });
}

absl::Status SetOption(CLI::Option& option, const toml::node& node, const std::string& place) {
  const std::optional<std::string> text = TextOf(&option, node);
  if (!text) {
    return UsageError(fmt::format("{}: {}: found {}; expected {}", place, KeyOf(&option), Escape(TomlSource(node)),
                                  IsWhole(&option)  ? "a whole number"
                                  : IsReal(&option) ? "a number"
                                                    : "a string"));
  }
  if (option.count() > 0) return absl::OkStatus();
  try {
    option.add_result(*text);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    return UsageError(fmt::format("{}: {}", place, error.what()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadOptionFile(CLI::App& verb, std::string_view group, const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const toml::table table, ReadTomlFile(path));
  const std::vector<CLI::Option*> options = GroupOf(verb, group);
  std::vector<std::string> keys;
  for (const CLI::Option* option : options) keys.push_back(KeyOf(option));
  for (const auto& [key, node] : table) {
    const std::string place = fmt::format("{}:{}", path.string(), key.source().begin.line);
    const auto at = std::ranges::find(keys, key.str());
    if (at == keys.end()) {
      RETURN_IF_ERROR(RefuseTable(key, node, path));
      const auto key_of = [&](std::uint64_t i) -> std::string_view { return keys[i]; };
      return UsageError(fmt::format("{}: unknown key \"{}\"{}", place, Escape(key.str()),
                                    DidYouMean(NearNames(key.str(), keys.size(), key_of))));
    }
    RETURN_IF_ERROR(SetOption(*options[static_cast<std::size_t>(at - keys.begin())], node, place));
  }
  return absl::OkStatus();
}

std::string OptionFileText(const CLI::App& verb, std::string_view group,
                           const std::function<bool(const CLI::Option*)>& belongs) {
  std::string text;
  for (const CLI::Option* option :
       verb.get_options([&](const CLI::Option* each) { return each->get_group() == group && belongs(each); })) {
    const std::string value = option->count() > 0 ? option->results().back() : option->get_default_str();
    const bool number = IsWhole(option) ? !IsPastToml(value) : IsReal(option);
    text += fmt::format("{} = {}\n", KeyOf(option),
                        !number           ? fmt::format("\"{}\"", value)
                        : IsWhole(option) ? std::to_string(*ParseWholeNumber(value))
                                          : fmt::format("{}", *ParseRealNumber(value)));
  }
  return text;
}

}  // namespace octavo
