#include "evaluate/score_bins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/random.h"

namespace octavo {
namespace {

// Counts {equal, above} for each threshold, one comparison at a time.
std::vector<std::uint64_t> NaiveCounts(const std::vector<float>& scores, const std::vector<float>& thresholds) {
  std::vector<std::uint64_t> counts;
  for (const float threshold : thresholds) {
    std::uint64_t equal = 0;
    std::uint64_t above = 0;
    for (const float score : scores) {
      if (std::isnan(score) || score > threshold) ++above;
      if (score == threshold) ++equal;
    }
    counts.push_back(equal);
    counts.push_back(above);
  }
  return counts;
}

std::vector<std::uint64_t> Counts(const std::vector<float>& scores, const std::vector<float>& thresholds,
                                  std::size_t pieces = 1) {
  std::vector<std::uint64_t> bins(2 * thresholds.size());
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * scores.size() / pieces;
    const std::size_t end = (i + 1) * scores.size() / pieces;
    AddToBins(std::span(scores).subspan(begin, end - begin), thresholds, bins);
  }
  SumBinsAbove(bins);
  return bins;
}

TEST(ScoreBins, FewAndManyThresholdsAgreeWithComparingEachPair) {
  RandomStream random(5, RandomPurpose::kSplit, 0, 0);
  for (const std::size_t count : {0UL, 1UL, 3UL, 15UL, 16UL, 17UL, 63UL, 1000UL}) {
    for (const std::size_t thresholds : {1UL, 2UL, 23UL, 24UL, 25UL, 200UL}) {
      std::vector<float> scores(count);
      // Few distinct values, so that many tie; including infinities.
      for (float& score : scores) score = static_cast<float>(random.Below(2 * thresholds)) / 2;
      if (count > 10) scores[3] = -std::numeric_limits<float>::infinity();
      if (count > 10) scores[5] = std::numeric_limits<float>::infinity();
      std::set<float> different;
      while (different.size() < thresholds) different.insert(static_cast<float>(random.Below(4 * thresholds)) / 2 - 2);
      const std::vector<float> sorted(different.begin(), different.end());
      EXPECT_EQ(Counts(scores, sorted), NaiveCounts(scores, sorted)) << count << " scores, " << thresholds;
      EXPECT_EQ(Counts(scores, sorted, 3), NaiveCounts(scores, sorted)) << count << " scores, " << thresholds;
    }
  }
}

TEST(ScoreBins, NanCountsAsAboveEverything) {
  std::vector<float> scores = {std::nanf(""), 1.0F, 2.0F};
  std::vector<float> thresholds = {1.0F, 2.0F};
  EXPECT_EQ(Counts(scores, thresholds), (std::vector<std::uint64_t>{1, 2, 1, 1}));
  scores.resize(40, std::nanf(""));  // including whole vectors
  EXPECT_EQ(Counts(scores, thresholds), NaiveCounts(scores, thresholds));
  for (int i = 0; i < 30; ++i) thresholds.push_back(3.0F + static_cast<float>(i));
  EXPECT_EQ(Counts(scores, thresholds), NaiveCounts(scores, thresholds));
}

}  // namespace
}  // namespace octavo
