#include "base/duration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fmt/format.h"

namespace octavo {

std::string DurationText(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 6000) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  const std::uint64_t minutes = (whole + 30) / 60;
  return fmt::format("{}:{:02} h", minutes / 60, minutes % 60);
}

}  // namespace octavo
