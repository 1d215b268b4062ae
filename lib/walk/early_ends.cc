#include "walk/early_ends.h"

#include <algorithm>

#include "fmt/format.h"

namespace octavo {

std::optional<std::string> EarlyEnds(const WalkOptions& options, std::uint64_t walks, std::uint64_t pairs) {
  if (options.both_ways) return std::nullopt;
  const auto length = static_cast<double>(options.length);
  const double window = std::min(static_cast<double>(options.window), length - 1);
  // Pairs of a walk that does not end early, and the share of them below which most walks do. A walk of ppr has at most
  // one pair, and none with probability 1 - alpha.
  const double whole = options.windowed() ? window * length - window * (window + 1) / 2 : options.alpha;
  const double least = options.windowed() ? 0.25 : 0.6;
  const double found = static_cast<double>(pairs) / static_cast<double>(std::max<std::uint64_t>(1, walks));
  if (found >= least * whole) return std::nullopt;
  return fmt::format(
      "most walks end early: {:.3g} pairs a walk, of {:.3g} that are possible, because edges are followed from head to "
      "tail only; if their direction does not matter, import the graph with --undirected",
      found, whole);
}

}  // namespace octavo
