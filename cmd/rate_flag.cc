#include "cmd/rate_flag.h"

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/number.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr double kMostBytes = 1e15;  // a second

// Bits count by thousands, as networks are sold.
std::optional<double> ParseBits(std::string_view text) {
  for (const auto& [unit, bits] : {std::pair<std::string_view, double>{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}}) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    if (text.ends_with(' ')) text.remove_suffix(1);
    const std::optional<double> number = ParseRealNumber(text);
    return number ? std::optional(*number * bits / 8) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> ParseByteRate(std::string_view text) {
  if (!text.ends_with("/s")) return std::nullopt;
  text.remove_suffix(2);
  if (text.ends_with('b')) return std::nullopt;  // Gb are bits to some, and bytes to the sizes of other flags
  std::optional<double> bytes = ParseBits(text);
  if (!bytes) {
    const absl::StatusOr<std::uint64_t> size = ParseByteSize(text);
    if (!size.ok()) return std::nullopt;
    bytes = static_cast<double>(*size);
  }
  if (*bytes < 1 || *bytes > kMostBytes) return std::nullopt;
  return bytes;
}

}  // namespace

CLI::Option* AddByteRate(CLI::App& app, const std::string& flag, double& bytes_per_second, const std::string& help) {
  const auto parse = [&bytes_per_second, flag](const std::string& text) {
    const std::optional<double> parsed = ParseByteRate(text);
    if (!parsed) {
      throw CLI::ValidationError(
          fmt::format("{}: found \"{}\"; expected bytes or bits a second such as 2.5GB/s, 100MiB/s or 10Gbit/s", flag,
                      Escape(text)));
    }
    bytes_per_second = *parsed;
  };
  return app.add_option_function<std::string>(flag, parse, help)->type_name("RATE");
}

}  // namespace octavo
