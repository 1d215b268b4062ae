#include "chart/ticks.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace octavo {

namespace {

// Returns the smallest step of 1, 2 or 5 times a power of ten such that at most `most` steps fit into `width`.
double NiceStep(double width, int most) {
  const double power = std::pow(10.0, std::floor(std::log10(width / most)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * most >= width) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::vector<double> NiceTicks(double high, int most) {
  const double step = NiceStep(high, most);
  std::vector<double> ticks;
  // The extra half of a thousandth is for steps such as 0.1 that have no exact double.
  for (int i = 0; i * step <= high + 5e-4 * step; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<double> TicksBetween(double low, double high, int most, bool whole) {
  std::vector<double> ticks;
  if (!(low < high)) return ticks;
  const double step = whole ? std::max(1.0, NiceStep(high - low, most)) : NiceStep(high - low, most);
  const double first = std::ceil(low / step - 5e-4);
  // Counts ticks: in a range as narrow as a double's last digits, adding 1 may change nothing.
  for (int i = 0; i <= most && (first + i) * step <= high + 5e-4 * step; ++i) {
    ticks.push_back((first + i) * step + 0.0);  // 0, not -0
  }
  return ticks;
}

std::vector<std::string> TickTexts(const std::vector<double>& ticks) {
  std::vector<std::string> texts;
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 0;
  const double largest = ticks.empty() ? 0 : std::max(std::abs(ticks.front()), std::abs(ticks.back()));
  for (const double tick : ticks) {
    // ShortNumber distinguishes large ticks and those with a tiny step. Others need the decimals of the step.
    if (step == 0 || largest >= 999.5 || step < 1e-4) {
      texts.push_back(ShortNumber(tick));
    } else {
      const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step * 1.0005))));
      texts.push_back(fmt::format("{:.{}f}", std::abs(tick) < step / 2 ? 0.0 : tick, decimals));
    }
  }
  return texts;
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
