#include "base/byte_size.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

struct Unit {
  std::string_view name;  // lower case
  double bytes;
};

constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                          {"b", 1},
                                          {"kb", 1e3},
                                          {"mb", 1e6},
                                          {"gb", 1e9},
                                          {"tb", 1e12},
                                          {"k", 1024.0},
                                          {"m", 1048576.0},
                                          {"g", 1073741824.0},
                                          {"t", 1099511627776.0},
                                          {"kib", 1024.0},
                                          {"mib", 1048576.0},
                                          {"gib", 1073741824.0},
                                          {"tib", 1099511627776.0}}};

absl::Status BadSize(std::string_view text) {
  return UsageError(fmt::format(
      "\"{}\" is not a size; expected a number with an optional unit, such as 512MiB, 1.5GiB or 800MB", Escape(text)));
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseByteSize(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) return BadSize(text);
  std::string unit(end, text.data() + text.size());
  for (char& c : unit) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
  for (const Unit& candidate : kUnits) {
    if (candidate.name != unit) continue;
    const double bytes = number * candidate.bytes;
    if (bytes >= 9.0e18) return BadSize(text);  // stays below the largest signed 64-bit offset
    return static_cast<std::uint64_t>(bytes);
  }
  return BadSize(text);
}

std::string FormatByteSize(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kNames.size()) {
    value /= 1024.0;
    ++unit;
  }
  if (unit == 0 || value >= 100.0) return fmt::format("{:.0f} {}", value, kNames[unit]);
  return fmt::format("{:.1f} {}", value, kNames[unit]);
}

}  // namespace octavo
