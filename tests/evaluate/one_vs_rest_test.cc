#include "evaluate/one_vs_rest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"

namespace octavo {
namespace {

constexpr std::size_t kColumns = 3;
constexpr std::size_t kWidth = kColumns + 1;

// Rows of classes whose points overlap, so that the best weights are finite. Class c has every (c + 2)-th row.
struct Example {
  Example(std::uint64_t seed, std::size_t rows, std::size_t classes)
      : features(rows, kColumns), members(classes), weights(classes, std::vector<float>(kWidth)) {
    RandomStream random(seed, RandomPurpose::kInitialEmbeddings, 0, 0);
    for (std::size_t i = 0; i < rows; ++i) {
      std::vector<float> values;
      for (std::size_t j = 0; j < kColumns; ++j) {
        values.push_back(random.NextNormal() + (i % (j + 2) == 0 ? 0.7F : -0.4F) * static_cast<float>(j));
      }
      features.Set(i, values, false);
      for (std::size_t c = 0; c < classes; ++c) {
        if (i % (c + 2) == 0) members[c].push_back(static_cast<std::uint32_t>(i));
      }
    }
  }

  void Fit(std::size_t first, std::size_t last, double cost, std::size_t rows) {
    std::vector<ClassToFit> classes;
    for (std::size_t c = first; c < last; ++c) classes.push_back({members[c], weights[c]});
    std::size_t fitted = 0;
    FitOneVsRest(features, rows, classes, cost, [&] { ++fitted; });
    EXPECT_EQ(fitted, last - first);
  }
  void Fit(double cost = 1) { Fit(0, members.size(), cost, features.rows()); }

  double Label(std::size_t c, std::size_t row) const { return row % (c + 2) == 0 ? 1 : -1; }

  FeatureRows features;
  std::vector<std::vector<std::uint32_t>> members;
  std::vector<std::vector<float>> weights;
};

// Plain gradient descent on the function that the header states.
std::vector<double> NaiveFit(const Example& example, std::size_t c, double cost, std::size_t rows) {
  std::vector<double> weights(kWidth, 0.0);
  for (int step = 0; step < 20'000; ++step) {
    std::vector<double> gradient = weights;
    for (std::size_t i = 0; i < rows; ++i) {
      double score = 0;
      for (std::size_t j = 0; j < kWidth; ++j) score += weights[j] * example.features.Row(i)[j];
      const double y = example.Label(c, i);
      const double slope = -cost * y / (1 + std::exp(y * score));
      for (std::size_t j = 0; j < kWidth; ++j) gradient[j] += slope * example.features.Row(i)[j];
    }
    for (std::size_t j = 0; j < kWidth; ++j) weights[j] -= 0.005 * gradient[j];
  }
  return weights;
}

TEST(OneVsRest, FindsTheMinimum) {
  for (const double cost : {0.1, 1.0, 3.0}) {
    Example example(7, 60, 3);
    example.Fit(cost);
    for (std::size_t c = 0; c < 3; ++c) {
      const std::vector<double> expected = NaiveFit(example, c, cost, 60);
      for (std::size_t j = 0; j < kWidth; ++j)
        EXPECT_NEAR(example.weights[c][j], expected[j], 2e-3) << cost << " " << j;
    }
  }
}

// The gradient of the stated function, in double, almost vanishes: 1,000 rows take several tiles, with an uneven last
// one.
TEST(OneVsRest, TheGradientVanishesOnManyRows) {
  Example example(8, 1000, 40);
  example.Fit();
  for (std::size_t c = 0; c < example.members.size(); ++c) {
    std::vector<double> gradient(example.weights[c].begin(), example.weights[c].end());
    for (std::size_t i = 0; i < 1000; ++i) {
      double score = 0;
      for (std::size_t j = 0; j < kWidth; ++j) {
        score += static_cast<double>(example.weights[c][j]) * example.features.Row(i)[j];
      }
      const double y = example.Label(c, i);
      for (std::size_t j = 0; j < kWidth; ++j)
        gradient[j] -= y * example.features.Row(i)[j] / (1 + std::exp(y * score));
    }
    for (const double value : gradient) EXPECT_NEAR(value, 0, 0.5) << c;  // from up to 500 at w = 0
  }
}

TEST(OneVsRest, UsesTheFirstRowsOnly) {
  Example example(9, 80, 2);
  for (std::vector<std::uint32_t>& members : example.members) {
    std::erase_if(members, [](std::uint32_t row) { return row >= 50; });
  }
  example.Fit(0, 2, 1, 50);
  for (std::size_t c = 0; c < 2; ++c) {
    const std::vector<double> expected = NaiveFit(example, c, 1, 50);
    for (std::size_t j = 0; j < kWidth; ++j) EXPECT_NEAR(example.weights[c][j], expected[j], 2e-3);
  }
}

TEST(OneVsRest, TheSameBitsBesideOtherClassesAndFromManyThreads) {
  Example expected(3, 300, 70);
  expected.Fit();
  Example alone(3, 300, 70);
  for (std::size_t c = 0; c < 70; ++c) alone.Fit(c, c + 1, 1, 300);
  EXPECT_EQ(alone.weights, expected.weights);
  std::vector<std::vector<std::vector<float>>> found(16);
  WithThreads(4, [&] {
    ParallelEach(0, found.size(), [&](std::size_t i) {
      Example example(3, 300, 70);
      example.Fit();
      found[i] = example.weights;
    });
  });
  for (const auto& weights : found) EXPECT_EQ(weights, expected.weights);
}

// Two rows that a plane separates have no largest useful weight except by regularization.
TEST(OneVsRest, OneRowOfAKind) {
  FeatureRows features(2, 1);
  features.Set(0, {{-1.0F}}, false);
  features.Set(1, {{3.0F}}, false);
  std::vector<float> weights(2);
  const std::uint32_t member = 1;
  const ClassToFit target{{&member, 1}, weights};
  FitOneVsRest(features, 2, {&target, 1}, 100, [] {});
  float scores[2];
  ScoreClasses(features, 0, 2, weights, scores);
  EXPECT_LT(scores[0], -3);
  EXPECT_GT(scores[1], 3);
}

// Overflow must not loop.
TEST(OneVsRest, EndsWithHugeRows) {
  for (const float size : {1e12F, 1e20F, 3e38F}) {
    Example example(4, 40, 2);
    for (std::size_t i = 0; i < 40; ++i) example.features.Set(i, {{size, i % 2 == 0 ? size : -size, 1.0F}}, false);
    example.Fit();
  }
}

TEST(OneVsRest, NormalizesRows) {
  FeatureRows features(2, 2);
  features.Set(0, {{3.0F, 4.0F}}, true);
  features.Set(1, {{0.0F, 0.0F}}, true);
  const std::vector<float> weights = {10.0F, 100.0F, 1000.0F, 0.0F, 0.0F, 2.0F};
  std::vector<float> scores(4);
  ScoreClasses(features, 0, 2, weights, scores);
  EXPECT_FLOAT_EQ(scores[0], 6 + 80 + 1000);
  EXPECT_FLOAT_EQ(scores[1], 2);
  EXPECT_FLOAT_EQ(scores[2], 1000);
  EXPECT_FLOAT_EQ(scores[3], 2);
}

}  // namespace
}  // namespace octavo
