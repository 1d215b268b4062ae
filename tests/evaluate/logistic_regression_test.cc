#include "evaluate/logistic_regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"

namespace octavo {
namespace {

// Rows around two points that overlap, so that the best weights are finite.
struct Example {
  static constexpr std::size_t kRows = 60;
  static constexpr std::size_t kColumns = 3;

  explicit Example(std::uint64_t seed) : values(kRows * kColumns), positive(kRows), features(kRows, kColumns) {
    RandomStream random(seed, RandomPurpose::kInitialEmbeddings, 0, 0);
    for (std::size_t i = 0; i < kRows; ++i) {
      positive[i] = i % 3 == 1 ? 1 : 0;
      for (std::size_t j = 0; j < kColumns; ++j) {
        values[i * kColumns + j] = random.NextNormal() + (positive[i] != 0 ? 0.7F : -0.4F) * static_cast<float>(j);
      }
      features.Set(i, Row(i), false);
    }
    rows.resize(kRows);
    std::iota(rows.begin(), rows.end(), 0U);
  }

  std::span<const float> Row(std::size_t i) const { return std::span(values).subspan(i * kColumns, kColumns); }

  std::vector<double> Fit(double cost) const {
    std::vector<double> weights(kColumns + 1);
    FitLogisticRegression(features, rows, positive, cost, weights);
    return weights;
  }

  std::vector<float> values;
  std::vector<char> positive;
  std::vector<std::uint32_t> rows;
  FeatureRows features;
};

// Plain gradient descent on the function that the header states.
std::vector<double> NaiveFit(const Example& example, double cost) {
  constexpr std::size_t kBias = Example::kColumns;
  std::vector<double> weights(kBias + 1, 0.0);
  for (int step = 0; step < 20'000; ++step) {
    std::vector<double> gradient = weights;
    for (std::size_t i = 0; i < Example::kRows; ++i) {
      const double y = example.positive[i] != 0 ? 1 : -1;
      double margin = weights[kBias];
      for (std::size_t j = 0; j < kBias; ++j) margin += weights[j] * example.Row(i)[j];
      const double slope = -cost * y / (1 + std::exp(y * margin));
      for (std::size_t j = 0; j < kBias; ++j) gradient[j] += slope * example.Row(i)[j];
      gradient[kBias] += slope;
    }
    for (std::size_t j = 0; j <= kBias; ++j) weights[j] -= 0.005 * gradient[j];
  }
  return weights;
}

TEST(LogisticRegression, FindsTheMinimum) {
  for (const double cost : {0.1, 1.0, 3.0}) {
    const Example example(7);
    const std::vector<double> weights = example.Fit(cost);
    const std::vector<double> expected = NaiveFit(example, cost);
    for (std::size_t j = 0; j < weights.size(); ++j) EXPECT_NEAR(weights[j], expected[j], 2e-3) << cost << " " << j;
    double decision = weights.back();
    for (std::size_t j = 0; j < Example::kColumns; ++j) decision += weights[j] * example.Row(11)[j];
    EXPECT_NEAR(example.features.Decide(11, weights), decision, 1e-12);
  }
}

TEST(LogisticRegression, TheSignIsThatOfThePositives) {
  // liblinear names the classes in the order in which it meets them: the first row once positive, once not.
  Example example(3);
  const std::vector<double> weights = example.Fit(1);
  std::swap(example.rows[0], example.rows[1]);
  std::swap(example.positive[0], example.positive[1]);
  const std::vector<double> swapped = example.Fit(1);
  for (std::size_t j = 0; j < weights.size(); ++j) EXPECT_NEAR(weights[j], swapped[j], 1e-6);
  EXPECT_GT(weights[2], 0);
}

TEST(LogisticRegression, OneRowOfAKind) {
  FeatureRows features(2, 1);
  features.Set(0, {{-1.0F}}, false);
  features.Set(1, {{3.0F}}, false);
  std::vector<double> weights(2);
  FitLogisticRegression(features, {{0U, 1U}}, {{char{0}, char{1}}}, 100, weights);
  EXPECT_LT(features.Decide(0, weights), 0);
  EXPECT_GT(features.Decide(1, weights), 0);
}

TEST(LogisticRegression, NormalizesRows) {
  FeatureRows features(2, 2);
  features.Set(0, {{3.0F, 4.0F}}, true);
  features.Set(1, {{0.0F, 0.0F}}, true);
  EXPECT_DOUBLE_EQ(features.Decide(0, {{10.0, 100.0, 1000.0}}), 6 + 80 + 1000);
  EXPECT_DOUBLE_EQ(features.Decide(1, {{10.0, 100.0, 1000.0}}), 1000);
}

TEST(LogisticRegression, PrintsNothingAndDrawsNothing) {
  const Example example(5);
  std::srand(99);
  const int drawn = std::rand();
  std::srand(99);
  ::testing::internal::CaptureStdout();
  const std::vector<double> weights = example.Fit(1);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(std::rand(), drawn);
  EXPECT_EQ(example.Fit(1), weights);
}

TEST(LogisticRegression, TheSameFromManyThreads) {
  std::vector<std::vector<double>> weights(64);
  WithThreads(4, [&] { ParallelEach(0, weights.size(), [&](std::size_t i) { weights[i] = Example(i % 4).Fit(1); }); });
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(weights[i], Example(i % 4).Fit(1));
}

}  // namespace
}  // namespace octavo
