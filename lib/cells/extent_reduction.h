// Merges many sorted extents into few, when memory is too small for one buffer each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/spill_file.h"

namespace octavo {

struct MergeLimits {
  std::size_t most = 0;    // extents that the last merge can take, at least 1
  std::size_t fan_in = 0;  // extents that an earlier merge can take, at least 2
};

// Merges extents of one file into one extent at its end and returns it; empty if two names have the same hash.
using MergeExtents = std::function<absl::StatusOr<std::optional<SpillExtent>>(std::span<const SpillExtent>)>;

// Merges some of `extents` at a time until at most limits.most are left. Equal-sized extents are each read at most
// log(extents) / log(fan_in) times. Returns false as soon as a merge returns empty.
absl::StatusOr<bool> ReduceExtents(std::vector<SpillExtent>& extents, const MergeLimits& limits,
                                   const MergeExtents& merge);

// The bytes that ReduceExtents and the last merge will read, if no merge makes them fewer.
std::uint64_t BytesToMerge(std::span<const SpillExtent> extents, const MergeLimits& limits);

}  // namespace octavo
