// Counts how many scores of a stream are above, and how many equal to, each of a few thresholds.
//
// For A distinct thresholds t_0 < ... < t_(A-1) there are 2A bins: bin 2i counts the scores equal to t_i, bin 2i + 1
// those above t_i and below t_(i+1). Scores arrive in blocks, from several threads at once. The counts are integers, so
// their order does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo {

// Adds 1 to the bin of each score, atomically. A NaN, which overflow can produce from finite rows, counts as above all
// thresholds. Few thresholds cost one vectorised pass over the scores each; many cost a binary search per score.
// REQUIRES: thresholds ascend strictly and are not NaN; bins.size() == 2 * thresholds.size()
void AddToBins(std::span<const float> scores, std::span<const float> thresholds, std::span<std::uint64_t> bins);

// Replaces the counts: bin 2i then holds the scores equal to t_i, bin 2i + 1 those above it.
void SumBinsAbove(std::span<std::uint64_t> bins);

}  // namespace octavo
