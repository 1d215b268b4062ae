// Makes few sorted runs of many, where memory has no room for a buffer of each.
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

struct RunLimits {
  std::size_t most = 0;    // runs that the last merge takes, at least 1
  std::size_t fan_in = 0;  // runs that an earlier one takes, at least 2
};

// Merges runs of one file into one run at its end and returns that; empty: two names have the same hash.
using MergeOfRuns = std::function<absl::StatusOr<std::optional<SpillExtent>>(std::span<const SpillExtent>)>;

// Replaces groups of `runs` by their merges until there are at most limits.most of them, shortest way first: of runs of
// one size each is read log(runs) / log(fan_in) times at most. False as soon as a merge is empty.
absl::StatusOr<bool> ReduceRuns(std::vector<SpillExtent>& runs, const RunLimits& limits, const MergeOfRuns& merge);

// The bytes that ReduceRuns and the last merge are going to read, if no merge makes them fewer.
std::uint64_t BytesToMerge(std::span<const SpillExtent> runs, const RunLimits& limits);

}  // namespace octavo
