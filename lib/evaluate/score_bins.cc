#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "evaluate/score_bins.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "evaluate/score_bins.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

// Returns how many scores are at most `threshold`, and how many equal it. A NaN counts as neither.
std::pair<std::size_t, std::size_t> CountTarget(const float* scores, std::size_t n, float threshold) {
  std::size_t not_above = 0;
  std::size_t equal = 0;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto score = hn::LoadU(d, scores + i);
    const auto t = hn::Set(d, threshold);
    not_above += hn::CountTrue(d, hn::Le(score, t));
    equal += hn::CountTrue(d, hn::Eq(score, t));
  });
  return {not_above, equal};
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace octavo {
namespace {

// With more thresholds than this, a binary search for each score is faster.
constexpr std::size_t kMaxPasses = 24;

HWY_EXPORT(CountTarget);

void Add(std::uint64_t& bin, std::uint64_t count) {
  // Relaxed: the counts are read after the parallel loop has been joined.
  if (count > 0) std::atomic_ref<std::uint64_t>(bin).fetch_add(count, std::memory_order_relaxed);
}

}  // namespace

void AddToBins(std::span<const float> scores, std::span<const float> thresholds, std::span<std::uint64_t> bins) {
  if (thresholds.size() <= kMaxPasses) {
    std::size_t below_next = scores.size();  // number of scores; a NaN is above all thresholds
    for (std::size_t i = thresholds.size(); i-- > 0;) {
      const auto [not_above, equal] = HWY_DYNAMIC_DISPATCH(CountTarget)(scores.data(), scores.size(), thresholds[i]);
      Add(bins[2 * i], equal);
      Add(bins[2 * i + 1], below_next - not_above);
      below_next = not_above - equal;
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
#endif  // HWY_ONCE
