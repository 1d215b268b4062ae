// The numbers that stand beside an axis. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace octavo {

// Returns 0, the step, twice the step and so on up to `high`, the step being 1, 2 or 5 times a power of ten: as many as
// there are with at most `most` steps. REQUIRES: high > 0 and finite, most > 0
std::vector<double> NiceTicks(double high, int most);

// Returns the multiples of such a step in [low, high], at most `most` + 1; with `whole` the step is at least 1. None
// where low is high. REQUIRES: low <= high, both finite, most > 0
std::vector<double> TicksBetween(double low, double high, int most, bool whole = false);

// Returns the ticks as text, with as many decimals as tell them apart, or as ShortNumber has them.
std::vector<std::string> TickTexts(const std::vector<double>& ticks);

// Returns three digits or a whole number, millions and more with M or G: 0.25, 2.5, 1,250, 312,500, 1.25 M.
std::string ShortNumber(double value);

}  // namespace octavo
