#include "evaluate/score_bins.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace octavo {
namespace {

// With more thresholds than this a binary search a score is the cheaper way.
constexpr std::size_t kMaxPasses = 24;

struct PassCount {
  std::uint64_t above = 0;
  std::uint64_t equal = 0;
};

// One pass over the scores. 32-bit counters, as wide as the floats, so that the loop vectorises.
PassCount CountPass(std::span<const float> scores, float threshold) {
  constexpr std::size_t kStep = std::size_t{1} << 30;
  PassCount count;
  for (std::size_t begin = 0; begin < scores.size(); begin += kStep) {
    const std::size_t end = std::min(begin + kStep, scores.size());
    std::uint32_t not_above = 0;
    std::uint32_t equal = 0;
    for (std::size_t i = begin; i < end; ++i) {
      not_above += static_cast<std::uint32_t>(scores[i] <= threshold);
      equal += static_cast<std::uint32_t>(scores[i] == threshold);
    }
    count.above += end - begin - not_above;
    count.equal += equal;
  }
  return count;
}

void Add(std::uint64_t& bin, std::uint64_t count) {
  // Relaxed: the counts are read after the parallel loop has been joined.
  if (count > 0) std::atomic_ref<std::uint64_t>(bin).fetch_add(count, std::memory_order_relaxed);
}

}  // namespace

void AddToBins(std::span<const float> scores, std::span<const float> thresholds, std::span<std::uint64_t> bins) {
  if (thresholds.size() <= kMaxPasses) {
    std::uint64_t above_next = 0;  // or equal to the next threshold
    for (std::size_t i = thresholds.size(); i-- > 0;) {
      const PassCount count = CountPass(scores, thresholds[i]);
      Add(bins[2 * i], count.equal);
      Add(bins[2 * i + 1], count.above - above_next);
      above_next = count.above + count.equal;
    }
    return;
  }
  for (const float score : scores) {
    if (std::isnan(score)) {
      Add(bins.back(), 1);
      continue;
    }
    const auto above = std::upper_bound(thresholds.begin(), thresholds.end(), score);
    if (above == thresholds.begin()) continue;
    const auto i = static_cast<std::size_t>(above - thresholds.begin()) - 1;
    Add(bins[thresholds[i] == score ? 2 * i : 2 * i + 1], 1);
  }
}

void SumBinsAbove(std::span<std::uint64_t> bins) {
  std::uint64_t above = 0;
  for (std::size_t i = bins.size() / 2; i-- > 0;) {
    above += bins[2 * i + 1];
    bins[2 * i + 1] = above;
    above += bins[2 * i];
  }
}

}  // namespace octavo
