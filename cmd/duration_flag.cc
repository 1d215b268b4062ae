#include "cmd/duration_flag.h"

#include <CLI/App.hpp>
#include <optional>
#include <string_view>

#include "base/escape.h"
#include "base/number.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr double kMostSeconds = 1e9;

// Returns the seconds for "90s", "30m", "2h" or "1.5d".
std::optional<double> ParseDuration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const char unit = text.back();
  const double seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? 86'400 : 0;
  const std::optional<double> number = ParseRealNumber(text.substr(0, text.size() - 1));
  if (seconds == 0 || !number || *number <= 0 || *number * seconds > kMostSeconds) return std::nullopt;
  return *number * seconds;
}

}  // namespace

CLI::Option* AddDuration(CLI::App& app, const std::string& flag, double& seconds, const std::string& help) {
  const auto parse = [&seconds, flag](const std::string& text) {
    const std::optional<double> parsed = ParseDuration(text);
    if (!parsed) {
      throw CLI::ValidationError(
          fmt::format("{}: found \"{}\"; expected a time above 0 such as 90s, 30m, 2h or 1.5d", flag, Escape(text)));
    }
    seconds = *parsed;
  };
  return app.add_option_function<std::string>(flag, parse, help)->type_name("TIME");
}

}  // namespace octavo
