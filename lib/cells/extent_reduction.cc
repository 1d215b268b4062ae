#include "cells/extent_reduction.h"

#include <algorithm>

#include "base/status.h"

namespace octavo {
namespace {

// How many extents the next merge takes: at most the fan-in, and no more than necessary.
std::size_t MergedAtOnce(std::size_t extents, const MergeLimits& limits) {
  return std::min(std::max<std::size_t>(2, limits.fan_in), extents - limits.most + 1);
}

std::uint64_t BytesOf(std::span<const SpillExtent> extents) {
  std::uint64_t bytes = 0;
  for (const SpillExtent& extent : extents) bytes += extent.end - extent.begin;
  return bytes;
}

}  // namespace

absl::StatusOr<bool> ReduceExtents(std::vector<SpillExtent>& extents, const MergeLimits& limits,
                                   const MergeExtents& merge) {
  // A queue: every extent is merged once before any result is merged again.
  while (extents.size() > limits.most) {
    const std::size_t some = MergedAtOnce(extents.size(), limits);
    ASSIGN_OR_RETURN(const std::optional<SpillExtent> merged, merge(std::span(extents).first(some)));
    if (!merged) return false;
    extents.erase(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(some));
    extents.push_back(*merged);
  }
  return true;
}

std::uint64_t BytesToMerge(std::span<const SpillExtent> extents, const MergeLimits& limits) {
  std::uint64_t bytes = 0;
  std::vector<SpillExtent> planned(extents.begin(), extents.end());
  const auto merge = [&](std::span<const SpillExtent> some) -> absl::StatusOr<std::optional<SpillExtent>> {
    bytes += BytesOf(some);
    return std::optional<SpillExtent>(SpillExtent{.begin = 0, .end = BytesOf(some)});
  };
  // The planning merge cannot fail.
  static_cast<void>(ReduceExtents(planned, limits, merge).ok());
  return bytes + BytesOf(planned);
}

}  // namespace octavo
