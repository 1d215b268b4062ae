#include "cmd/flags.h"

#include <CLI/App.hpp>
#include <optional>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

[[noreturn]] void Refuse(const std::string& flag, std::string_view found, std::string_view expected) {
  throw CLI::ValidationError(fmt::format("{}: found \"{}\"; expected {}", flag, Escape(found), expected));
}

}  // namespace

CLI::Option* AddWholeNumber(CLI::App& app, const std::string& flag, std::uint64_t& value, std::uint64_t least,
                            std::uint64_t most, const std::string& help) {
  const auto parse = [&value, flag, least, most](const std::string& text) {
    const std::optional<std::uint64_t> number = ParseWholeNumber(text);
    if (!number || *number < least || *number > most) {
      Refuse(flag, text, fmt::format("a whole number from {} to {}", least, most));
    }
    value = *number;
  };
  return app.add_option_function<std::string>(flag, parse, help)->type_name("N")->default_str(std::to_string(value));
}

CLI::Option* AddRealNumber(CLI::App& app, const std::string& flag, double& value, double least, double most,
                           const std::string& help) {
  const auto parse = [&value, flag, least, most](const std::string& text) {
    const std::optional<double> number = ParseRealNumber(text);
    if (!number || *number < least || *number > most) {
      Refuse(flag, text, fmt::format("a number from {} to {}", least, most));
    }
    value = *number;
  };
  return app.add_option_function<std::string>(flag, parse, help)->type_name("F")->default_str(fmt::format("{}", value));
}

CLI::Option* AddByteSize(CLI::App& app, const std::string& flag, std::uint64_t& value, std::uint64_t least,
                         const std::string& help) {
  const auto parse = [&value, flag, least](const std::string& text) {
    const absl::StatusOr<std::uint64_t> bytes = ParseByteSize(text);
    if (!bytes.ok() || *bytes < least) {
      Refuse(flag, text, fmt::format("a size such as 512MiB, 1.5GiB or 800MB, at least {}", FormatByteSize(least)));
    }
    value = *bytes;
  };
  return app.add_option_function<std::string>(flag, parse, help)->type_name("SIZE");
}

CLI::Option* RefuseEmpty(CLI::Option* option) {
  return option->check(
      [](const std::string& path) { return path.empty() ? "found \"\"; expected a path" : std::string(); });
}

}  // namespace octavo
