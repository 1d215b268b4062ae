#include "chart/ticks.h"

#include <cmath>

#include "fmt/format.h"

namespace octavo {

std::vector<double> NiceTicks(double high, int most) {
  double step = std::pow(10.0, std::floor(std::log10(high / most)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * step * most < high && factor < 10) continue;
    step *= factor;
    break;
  }
  std::vector<double> ticks;
  // Half a thousandth more, for steps such as 0.1 that are none of the numbers at hand.
  for (int i = 0; i * step <= high + 5e-4 * step; ++i) ticks.push_back(i * step);
  return ticks;
}

std::string ShortNumber(double value) {
  if (!std::isfinite(value)) return "-";
  if (std::abs(value) >= 999.5e6) return fmt::format("{:.3g} G", value * 1e-9);
  if (std::abs(value) >= 999'999.5) return fmt::format("{:.3g} M", value * 1e-6);
  if (std::abs(value) < 999.5) return fmt::format("{:.3g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > 3 + sign;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace octavo
