#include "model/loss.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/naive_model.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr LossKind kLosses[] = {LossKind::kSoftmax, LossKind::kLogistic, LossKind::kRanking,
                                LossKind::kSelfAdversarial};

struct Result {
  double loss = 0;
  std::vector<float> gradients;
  float positive = 0;
};

Result RunRow(const LossSpec& spec, float positive, std::vector<float> scores, float weight = 1.0F) {
  Result result;
  result.loss = LossAndGradient(spec, std::span(&positive, 1), std::span(&weight, 1), scores, scores.size(),
                                std::span(&result.positive, 1), std::vector<std::uint32_t>{0, 1});
  result.gradients = std::move(scores);
  return result;
}

std::vector<double> Unmasked(const std::vector<float>& scores) {
  std::vector<double> kept;
  for (const float s : scores) {
    if (s != kMaskedScore) kept.push_back(s);
  }
  return kept;
}

// Compares loss and gradients of one row with the naive loss and its central differences.
void ExpectNaive(const LossSpec& spec, float positive, const std::vector<float>& scores, float weight) {
  const Result fast = RunRow(spec, positive, scores, weight);
  std::vector<double> kept = Unmasked(scores);
  const auto adversarial = NaiveAdversarialWeights(spec, kept);
  const double naive = NaiveLoss(spec, positive, kept, adversarial);
  // exp and log1p: 3 units in the last place; the sum: one rounding a term of a lane at worst.
  const double tolerance = (8 + static_cast<double>(scores.size()) / 4) * 6e-8 * weight;
  EXPECT_NEAR(fast.loss, weight * naive, tolerance * (1 + std::abs(naive)));

  constexpr double kStep = 1e-6;
  const auto derivative = [&](auto loss_at) { return (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep); };
  const double p = positive;
  // 1e-9: rounding of the difference, 1e-16 * loss / step.
  const double slack = tolerance + 1e-9 * (1 + std::abs(naive)) * weight;
  EXPECT_NEAR(fast.positive, weight * derivative([&](double h) { return NaiveLoss(spec, p + h, kept, adversarial); }),
              slack);
  std::size_t j = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == kMaskedScore) {
      EXPECT_EQ(fast.gradients[i], 0.0F);
      continue;
    }
    const double s = kept[j];
    const double expected = derivative([&](double h) {
      kept[j] = s + h;
      return NaiveLoss(spec, p, kept, adversarial);
    });
    kept[j++] = s;
    EXPECT_NEAR(fast.gradients[i], weight * expected, slack) << "negative " << i;
  }
}

TEST(LossTest, AgreesWithNaiveLossAroundVectorWidths) {
  for (const LossKind kind : kLosses) {
    for (std::size_t n = 0; n <= 40; ++n) {
      SCOPED_TRACE(testing::Message() << LossName(kind) << ", " << n << " negatives");
      auto scores = RandomRows(n, n + 1, 3.0F);
      ExpectNaive({kind, 0.75F, 0.5F}, 0.3F, scores, 1.5F);
      for (std::size_t i = 0; i < n; i += 3) scores[i] = kMaskedScore;
      ExpectNaive({kind, 0.75F, 2.0F}, -1.1F, scores, 0.5F);
    }
  }
}

TEST(LossTest, SmoothedLabelsAgreeWithNaiveLoss) {
  for (const LossKind kind : {LossKind::kSoftmax, LossKind::kLogistic}) {
    for (const std::size_t n : {0U, 1U, 7U, 16U, 35U}) {
      SCOPED_TRACE(testing::Message() << LossName(kind) << ", " << n << " negatives");
      auto scores = RandomRows(n, n + 1, 3.0F);
      const LossSpec spec{kind, 0.75F, 1.0F, 0.2F};
      ExpectNaive(spec, 0.3F, scores, 1.5F);
      for (std::size_t i = 0; i < n; i += 3) scores[i] = kMaskedScore;
      ExpectNaive(spec, -1.1F, scores, 0.5F);
    }
  }
}

TEST(LossTest, NegativesThatCountForSeveralNodesAgreeWithNaiveLoss) {
  for (const std::size_t n : {0U, 1U, 7U, 16U, 35U}) {
    SCOPED_TRACE(testing::Message() << n << " negatives");
    auto scores = RandomRows(n, n + 1, 3.0F);
    const LossSpec spec{.log_negative_count = 2.5};
    ExpectNaive(spec, 0.3F, scores, 1.5F);
    for (std::size_t i = 0; i < n; i += 3) scores[i] = kMaskedScore;
    ExpectNaive(spec, 4.1F, scores, 0.5F);
  }
}

// A row with several edges equals the sum of rows with one edge each.
TEST(LossTest, EdgesThatShareARowAddUp) {
  constexpr std::size_t kNegatives = 21;
  const std::vector<float> positives = {0.5F, -2.0F, 3.5F, 0.0F, 1.0F};
  const std::vector<float> weights = {1.0F, 0.5F, 2.0F, 1.5F, 1.0F};
  const std::vector<std::uint32_t> begins = {0, 3, 4, 5};
  for (const LossKind kind : kLosses) {
    for (const float smoothing : {0.0F, 0.1F}) {
      if (smoothing > 0 && kind != LossKind::kSoftmax && kind != LossKind::kLogistic) continue;
      SCOPED_TRACE(testing::Message() << LossName(kind) << ", smoothing " << smoothing);
      const LossSpec spec{kind, 0.5F, 0.7F, smoothing};
      std::vector<float> scores = RandomRows(3 * kNegatives, 4, 2.0F);
      for (std::size_t i = 2; i < scores.size(); i += 5) scores[i] = kMaskedScore;
      std::vector<float> shared = scores;
      std::vector<float> slopes(positives.size());
      const double loss = LossAndGradient(spec, positives, weights, shared, kNegatives, slopes, begins);
      double expected_loss = 0;
      for (std::size_t row = 0; row < 3; ++row) {
        const std::vector<float> one(scores.begin() + row * kNegatives, scores.begin() + (row + 1) * kNegatives);
        std::vector<double> expected(kNegatives, 0.0);
        for (std::size_t edge = begins[row]; edge < begins[row + 1]; ++edge) {
          const Result alone = RunRow(spec, positives[edge], one, weights[edge]);
          expected_loss += alone.loss;
          EXPECT_NEAR(slopes[edge], alone.positive, 1e-6);
          for (std::size_t j = 0; j < kNegatives; ++j) expected[j] += alone.gradients[j];
        }
        for (std::size_t j = 0; j < kNegatives; ++j) {
          EXPECT_NEAR(shared[row * kNegatives + j], expected[j], 2e-6) << row << " " << j;
        }
      }
      EXPECT_NEAR(loss, expected_loss, 1e-5 * std::abs(expected_loss));
    }
  }
}

// Three edges with the same answer equal one edge with their total weight.
TEST(LossTest, CopiesOfACompetingAnswerAreOne) {
  const LossSpec spec{.competing_answers = true};
  const std::vector<Edge> answers = {{.tail = NodeId{4}}, {.tail = NodeId{4}}, {.tail = NodeId{4}},
                                     {.tail = NodeId{7}}, {.tail = NodeId{4}}, {.tail = NodeId{4}}};
  const std::vector<float> scores = RandomRows(2 * 5, 1, 2.0F);
  std::vector<float> copied = scores;
  std::vector<float> slopes(6);
  const double loss = LossAndGradient(spec, std::vector<float>{0.5F, 0.5F, 0.5F, 1.5F, 0.25F, 0.25F},
                                      std::vector<float>{1.0F, 0.5F, 2.0F, 3.0F, 1.0F, 1.0F}, copied, 5, slopes,
                                      std::vector<std::uint32_t>{0, 4, 6}, answers);
  std::vector<float> single = scores;
  std::vector<float> expected(3);
  const double expected_loss =
      LossAndGradient(spec, std::vector<float>{0.5F, 1.5F, 0.25F}, std::vector<float>{3.5F, 3.0F, 2.0F}, single, 5,
                      expected, std::vector<std::uint32_t>{0, 2, 3});
  EXPECT_NEAR(loss, expected_loss, 1e-5);
  EXPECT_NEAR(slopes[0] + slopes[1] + slopes[2], expected[0], 1e-5);
  EXPECT_NEAR(slopes[3], expected[1], 1e-5);
  EXPECT_NEAR(slopes[4] + slopes[5], expected[2], 1e-5);
  for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(copied[i], single[i], 1e-5) << i;
}

TEST(LossTest, CompetingAnswersFarApart) {
  const LossSpec spec{.competing_answers = true};
  std::vector<float> scores = {-9e3F, -2e4F};
  std::vector<float> slopes(2);
  const double loss = LossAndGradient(spec, std::vector<float>{-1e4F, 1e4F}, std::vector<float>{1.0F, 1.0F}, scores, 2,
                                      slopes, std::vector<std::uint32_t>{0, 2});
  EXPECT_EQ(loss, 2e4);
  EXPECT_EQ(slopes, (std::vector<float>{-1, 1}));
  EXPECT_EQ(scores, (std::vector<float>{0, 0}));
}

// Naive: each edge of the row against the others' answers; for the gradients one score at a time is changed.
TEST(LossTest, CompetingAnswersAgreeWithNaiveLoss) {
  for (const std::size_t n : {0U, 1U, 7U, 16U, 35U}) {
    for (const float smoothing : {0.0F, 0.1F}) {
      SCOPED_TRACE(testing::Message() << n << " negatives, smoothing " << smoothing);
      const LossSpec spec{.label_smoothing = smoothing, .competing_answers = true};
      const std::vector<float> positives = {0.5F, -2.0F, 3.5F};
      const std::vector<float> weights = {1.0F, 0.5F, 2.0F};
      std::vector<float> scores = RandomRows(n, n + 1, 2.0F);
      for (std::size_t i = 2; i < n; i += 5) scores[i] = kMaskedScore;
      const std::vector<double> kept = Unmasked(scores);
      std::vector<double> all(positives.begin(), positives.end());
      all.insert(all.end(), kept.begin(), kept.end());
      const auto naive = [&] {
        double sum = 0;
        for (std::size_t i = 0; i < 3; ++i) {
          const std::vector<double> rivals = {all[(i + 1) % 3], all[(i + 2) % 3]};
          sum += weights[i] * NaiveLoss(spec, all[i], std::span<const double>(all).subspan(3), {}, rivals);
        }
        return sum;
      };
      const auto slope = [&](std::size_t i) {
        constexpr double kStep = 1e-6;
        const double value = all[i];
        all[i] = value + kStep;
        const double above = naive();
        all[i] = value - kStep;
        const double below = naive();
        all[i] = value;
        return (above - below) / (2 * kStep);
      };
      std::vector<float> slopes(3);
      const std::vector<std::uint32_t> begins = {0, 3};
      const double loss = LossAndGradient(spec, positives, weights, scores, n, slopes, begins);
      EXPECT_NEAR(loss, naive(), 1e-5);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(slopes[i], slope(i), 2e-6) << i;
      for (std::size_t i = 0, j = 3; i < n; ++i) {
        if (i % 5 == 2) {
          EXPECT_EQ(scores[i], 0.0F);
        } else {
          EXPECT_NEAR(scores[i], slope(j++), 2e-6) << i;
        }
      }
    }
  }
}

// A positive whose score is far below another one's in its row, so that its exponential is 0 relative to the other's.
TEST(LossTest, PositivesFarApartKeepTheirOwnLosses) {
  const std::vector<float> positives = {-1e4F, 1e4F};
  const std::vector<float> weights = {1.0F, 1.0F};
  const std::vector<std::uint32_t> begins = {0, 2};
  std::vector<float> scores = {-9e3F, -2e4F};
  std::vector<float> slopes(2);
  EXPECT_NEAR(LossAndGradient({}, positives, weights, scores, 2, slopes, begins), 1e3, 1e-3);
  EXPECT_EQ(slopes, (std::vector<float>{-1.0F, 0.0F}));
  EXPECT_EQ(scores, (std::vector<float>{1.0F, 0.0F}));
}

TEST(LossTest, LongRowsAgreeWithNaiveLoss) {
  for (const LossKind kind : kLosses) {
    SCOPED_TRACE(LossName(kind));
    ExpectNaive({kind, 1.0F, 1.0F}, 2.0F, RandomRows(1003, 5, 2.0F), 1.0F);
  }
}

TEST(LossTest, AllMaskedIsTheLossWithoutNegatives) {
  for (const LossKind kind : kLosses) {
    SCOPED_TRACE(LossName(kind));
    const LossSpec spec{kind, 0.5F, 0.0F};
    const Result masked = RunRow(spec, 0.25F, std::vector<float>(37, kMaskedScore));
    EXPECT_EQ(masked.loss, RunRow(spec, 0.25F, {}).loss);
    EXPECT_NEAR(masked.loss, NaiveLoss(spec, 0.25, {}, {}), 1e-6);
    EXPECT_THAT(masked.gradients, testing::Each(0.0F));
    if (kind == LossKind::kSoftmax) {
      EXPECT_EQ(masked.loss, 0);
    }
    if (kind == LossKind::kSoftmax || kind == LossKind::kRanking) {
      EXPECT_EQ(masked.positive, 0.0F);
    }
  }
}

TEST(LossTest, TemperatureZeroWeighsUnmaskedNegativesAlike) {
  const Result result = RunRow({LossKind::kSelfAdversarial, 0.0F, 0.0F}, 0.0F, {1.0F, kMaskedScore, 1.0F, -3.0F});
  EXPECT_EQ(result.gradients[0], result.gradients[2]);
  EXPECT_EQ(result.gradients[1], 0.0F);
  EXPECT_NEAR(result.gradients[0], 1 / (1 + std::exp(-1.0)) / 3, 1e-6);
}

// The gradients of a softmax are in the ratio of the exponentials. An exponential has an error of at most 1.2 units,
// 2.4 roundings, and its product one.
TEST(LossTest, ExponentialsAreWithinUnitsOfTheLastPlace) {
  std::vector<float> scores = {0.0F};
  for (int i = 1; i < 20003; ++i) scores.push_back(-80.0F * static_cast<float>(i) / 20003);
  for (const float tiny : {-1e-30F, -1e-7F, -0.34657F, -0.34658F}) scores.push_back(tiny);
  const Result row = RunRow({.kind = LossKind::kSoftmax}, -20.0F, scores);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double expected = std::exp(static_cast<double>(scores[i]));
    ASSERT_NEAR(row.gradients[i] / static_cast<double>(row.gradients[0]) / expected, 1, 4 * 6e-8) << scores[i];
  }
}

TEST(LossTest, FarBelowTheHighestScoreIsNearlyNothing) {
  std::vector<float> scores = {0, -1, -1e4F, -1e38F, kMaskedScore};
  for (int i = 8600; i < 10600; ++i) scores.push_back(-0.01F * static_cast<float>(i));
  const Result row = RunRow({.kind = LossKind::kSoftmax}, 0, scores);
  EXPECT_NEAR(row.gradients[1] / row.gradients[0], std::exp(-1.0), 1e-6);
  for (std::size_t i = 2; i < scores.size(); ++i) {
    ASSERT_GE(row.gradients[i], 0) << scores[i];
    ASSERT_LE(row.gradients[i], 5e-38F) << scores[i];
    if (scores[i] < -86.5F) {
      ASSERT_EQ(row.gradients[i], 0) << scores[i];
    }
  }
}

TEST(LossTest, LargeScoresAreStable) {
  for (const LossKind kind : kLosses) {
    SCOPED_TRACE(LossName(kind));
    for (const float large : {1e3F, 1e10F, 1e37F}) {
      for (const float positive : {-large, large}) {
        const Result result = RunRow({kind, 1.0F, 1.0F}, positive, {large, -large, 0.0F, large, kMaskedScore});
        EXPECT_TRUE(std::isfinite(result.loss));
        EXPECT_TRUE(std::isfinite(result.positive));
        for (const float g : result.gradients) EXPECT_TRUE(std::isfinite(g));
        if (positive < 0) {
          EXPECT_GE(result.loss, large);
        }
      }
    }
  }
}

// ExpOfNegative turns NaN into 0: a NaN score counted as a negative without weight.
TEST(LossTest, NanAndInfinityAreNeverSwallowed) {
  for (const LossKind kind : kLosses) {
    SCOPED_TRACE(LossName(kind));
    const LossSpec spec{kind, 1.0F, 1.0F};
    for (const float bad : {kNan, kInfinity}) {
      for (std::size_t n = 1; n <= 35; ++n) {
        for (std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
          std::vector<float> scores = RandomRows(n, n);
          scores[place] = bad;
          EXPECT_FALSE(std::isfinite(RunRow(spec, 0.0F, scores).loss)) << n << " at " << place;
          EXPECT_FALSE(std::isfinite(RunRow(spec, 0.0F, scores, 0.0F).loss)) << "weight 0";
        }
      }
    }
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      EXPECT_FALSE(std::isfinite(RunRow(spec, bad, {0.5F, -0.5F}).loss));
      EXPECT_FALSE(std::isfinite(RunRow(spec, bad, {}).loss));
    }
  }
}

TEST(LossTest, RowsAreIndependent) {
  const std::size_t n = 21;
  const auto scores = RandomRows(3 * n, 9), positives = RandomRows(3, 10);
  const std::vector<float> weights = {1.0F, 0.0F, 2.5F};
  for (const LossKind kind : kLosses) {
    auto together = scores;
    std::vector<float> gradients(3);
    const double sum = LossAndGradient({kind, 1.0F, 1.0F}, positives, weights, together, n, gradients,
                                       std::vector<std::uint32_t>{0, 1, 2, 3});
    double expected = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::vector<float> row(scores.begin() + static_cast<std::ptrdiff_t>(i * n),
                                   scores.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
      const Result alone = RunRow({kind, 1.0F, 1.0F}, positives[i], row, weights[i]);
      expected += alone.loss;
      EXPECT_EQ(alone.positive, gradients[i]);
      for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(alone.gradients[j], together[i * n + j]);
    }
    EXPECT_EQ(sum, expected);
  }
}

TEST(LossTest, NamesAreParsedBack) {
  for (const LossKind kind : kLosses) EXPECT_EQ(ParseLoss(LossName(kind)).value(), kind);
  const auto bad = ParseLoss("Softmax");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(KindOf(bad.status()), ErrorKind::kUsage);
  EXPECT_THAT(MessageOf(bad.status()), testing::HasSubstr("softmax, logistic, ranking or self-adversarial"));
}

}  // namespace
}  // namespace octavo
