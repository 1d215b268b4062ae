#include "evaluate/auc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "base/random.h"

namespace octavo {
namespace {

// The definitions: all pairs, and a pass over all scores for each threshold.
double NaiveAuc(const std::vector<float>& positives, const std::vector<float>& negatives) {
  double wins = 0;
  for (const float positive : positives) {
    for (const float negative : negatives) wins += positive > negative ? 1 : positive == negative ? 0.5 : 0;
  }
  return wins / static_cast<double>(positives.size() * negatives.size());
}

double NaiveAveragePrecision(const std::vector<float>& positives, const std::vector<float>& negatives) {
  std::set<float> thresholds(positives.begin(), positives.end());
  thresholds.insert(negatives.begin(), negatives.end());
  double sum = 0;
  double recall_before = 0;
  for (auto threshold = thresholds.rbegin(); threshold != thresholds.rend(); ++threshold) {
    const auto above = [&](float score) { return score >= *threshold; };
    const auto right = static_cast<double>(std::count_if(positives.begin(), positives.end(), above));
    const auto wrong = static_cast<double>(std::count_if(negatives.begin(), negatives.end(), above));
    const double recall = right / static_cast<double>(positives.size());
    sum += (recall - recall_before) * right / (right + wrong);
    recall_before = recall;
  }
  return sum;
}

TEST(Auc, AsScikitLearnOnScoresWithTies) {
  // roc_auc_score and average_precision_score of scikit-learn 1.2.1.
  const std::vector<float> positives = {0.1F, 0.2F, 0.5F, 0.5F, 0.7F, 0.9F};
  const std::vector<float> negatives = {0.0F, 0.1F, 0.2F, 0.3F, 0.5F, 0.5F, 0.8F};
  EXPECT_DOUBLE_EQ(RocAuc(positives, negatives), 0.6428571428571428);
  EXPECT_DOUBLE_EQ(AveragePrecision(positives, negatives), 0.6349206349206349);
}

TEST(Auc, AsTheDefinitionsOnRandomScores) {
  for (std::uint64_t round = 0; round < 200; ++round) {
    RandomStream random(round, RandomPurpose::kSplit, 0, 0);
    std::vector<float> positives(1 + random.Below(30));
    std::vector<float> negatives(1 + random.Below(30));
    const std::uint64_t different = 1 + random.Below(40);  // few of them: many ties
    const auto draw = [&] { return static_cast<float>(random.Below(different)) - 10.0F; };
    std::generate(positives.begin(), positives.end(), draw);
    std::generate(negatives.begin(), negatives.end(), draw);
    std::sort(positives.begin(), positives.end());
    std::sort(negatives.begin(), negatives.end());
    EXPECT_NEAR(RocAuc(positives, negatives), NaiveAuc(positives, negatives), 1e-12);
    EXPECT_NEAR(AveragePrecision(positives, negatives), NaiveAveragePrecision(positives, negatives), 1e-12);
  }
}

TEST(Auc, TheEnds) {
  const std::vector<float> low = {-2.0F, -1.0F};
  const std::vector<float> high = {1.0F, std::numeric_limits<float>::max()};
  EXPECT_EQ(RocAuc(high, low), 1.0);
  EXPECT_EQ(AveragePrecision(high, low), 1.0);
  EXPECT_EQ(RocAuc(low, high), 0.0);
  EXPECT_EQ(RocAuc(low, low), 0.5);
  const std::vector<float> zeros = {-0.0F, 0.0F};
  EXPECT_EQ(RocAuc(zeros, {std::vector<float>{0.0F}}), 0.5);
  EXPECT_EQ(AveragePrecision(zeros, {std::vector<float>{0.0F, -0.0F}}), 0.5);
}

}  // namespace
}  // namespace octavo
