// Chooses and formats the numbers at an axis. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace octavo {

// Returns 0, step, 2 * step, ... up to `high`, where step is 1, 2 or 5 times a power of ten: the most ticks with at
// most `most` steps.
// REQUIRES: high > 0 and finite, most > 0
std::vector<double> NiceTicks(double high, int most);

// Returns the multiples of such a step in [low, high], at most `most` + 1. With `whole` the step is at least 1. Empty
// if low is high.
// REQUIRES: low <= high, both finite, most > 0
std::vector<double> TicksBetween(double low, double high, int most, bool whole = false);

// Returns the ticks as text with enough decimals to distinguish them, or as by ShortNumber.
std::vector<std::string> TickTexts(const std::vector<double>& ticks);

// Returns three digits or a whole number; M or G for millions and more: 0.25, 2.5, 1,250, 312,500, 1.25 M.
std::string ShortNumber(double value);

}  // namespace octavo
