// Counts how many of a stream of scores are above, and how many equal to, each of a few thresholds.
//
// For A different thresholds t_0 < ... < t_(A-1) there are 2A bins: bin 2i counts the scores equal to t_i, bin 2i + 1
// those above t_i and below t_(i+1). Scores come block by block, from several threads at once; the counts are integers,
// so their order does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo {

// Adds 1 to the bin of each score; a NaN, which an overflow can make of finite rows, counts as above them all. Bins are
// added to atomically. Few thresholds cost a vectorised pass over the scores each, many a binary search a score.
// REQUIRES: thresholds ascend strictly and are not NaN; bins.size() == 2 * thresholds.size()
void AddToBins(std::span<const float> scores, std::span<const float> thresholds, std::span<std::uint64_t> bins);

// Replaces the counts, so that bin 2i holds those equal to t_i and bin 2i + 1 those above it.
void SumBinsAbove(std::span<std::uint64_t> bins);

}  // namespace octavo
