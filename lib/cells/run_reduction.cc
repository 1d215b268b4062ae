#include "cells/run_reduction.h"

#include <algorithm>

#include "base/status.h"

namespace octavo {
namespace {

// How many runs the next merge takes: as many as it may, and no more than are too many.
std::size_t GroupSize(std::size_t runs, const RunLimits& limits) {
  return std::min(std::max<std::size_t>(2, limits.fan_in), runs - limits.most + 1);
}

std::uint64_t BytesOf(std::span<const SpillExtent> runs) {
  std::uint64_t bytes = 0;
  for (const SpillExtent& run : runs) bytes += run.end - run.begin;
  return bytes;
}

}  // namespace

absl::StatusOr<bool> ReduceRuns(std::vector<SpillExtent>& runs, const RunLimits& limits, const MergeOfRuns& merge) {
  // A queue: all runs have been merged once before one of the merged ones is merged again.
  while (runs.size() > limits.most) {
    const std::size_t group = GroupSize(runs.size(), limits);
    ASSIGN_OR_RETURN(const std::optional<SpillExtent> merged, merge(std::span(runs).first(group)));
    if (!merged) return false;
    runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(group));
    runs.push_back(*merged);
  }
  return true;
}

std::uint64_t BytesToMerge(std::span<const SpillExtent> runs, const RunLimits& limits) {
  std::uint64_t bytes = 0;
  std::vector<SpillExtent> planned(runs.begin(), runs.end());
  const auto merge = [&](std::span<const SpillExtent> group) -> absl::StatusOr<std::optional<SpillExtent>> {
    bytes += BytesOf(group);
    return std::optional<SpillExtent>(SpillExtent{.begin = 0, .end = BytesOf(group)});
  };
  // Nothing in it can fail.
  static_cast<void>(ReduceRuns(planned, limits, merge).ok());
  return bytes + BytesOf(planned);
}

}  // namespace octavo
