#include "run/initial_rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

std::vector<float> Embedding(const TrainOptions& options, double scale, std::uint64_t row) {
  std::vector<float> values(options.dim);
  InitialEmbedding(options, scale, row, values);
  return values;
}

std::vector<float> Relation(const TrainOptions& options, double scale, std::uint64_t row) {
  std::vector<float> values(options.model_spec().RelationWidth());
  InitialRelation(options, scale, row, values);
  return values;
}

TEST(InitialScale, IsTheOptionsOrTheModels) {
  TrainOptions options;
  for (const ModelKind model : {ModelKind::kDot, ModelKind::kDistMult, ModelKind::kComplEx}) {
    options.model = model;
    EXPECT_EQ(InitialScale(options, 1000), 1e-3);
  }
  options.dim = 50;
  for (const ModelKind model : {ModelKind::kTransE, ModelKind::kRotatE}) {
    options.model = model;
    EXPECT_NEAR(InitialScale(options, 1000), 11 / (50 * std::sqrt(3.0)), 1e-12);
  }
  options.initial_scale = 0.25;
  EXPECT_EQ(InitialScale(options, 1000), 0.25);
}

TEST(InitialScale, FollowsFromTheShapeWithXavier) {
  TrainOptions options;
  options.dim = 56;
  options.initial_scale = 0.25;
  for (const Initializer initializer : {Initializer::kXavierNormal, Initializer::kXavierUniform}) {
    options.initializer = initializer;
    EXPECT_NEAR(InitialScale(options, 144), 0.1, 1e-12);
  }
}

TEST(InitialEmbedding, IsUniformOnRequest) {
  TrainOptions options;
  options.dim = 100;
  options.initializer = Initializer::kUniform;
  double squares = 0;
  float most = 0;
  for (std::uint64_t row = 0; row < 1000; ++row) {
    for (const float x : Embedding(options, 0.5, row)) {
      squares += static_cast<double>(x) * x;
      most = std::max(most, std::abs(x));
    }
  }
  EXPECT_NEAR(squares / 1e5, 0.25, 0.005);
  EXPECT_LE(most, 0.5F * 1.7320509F);
  EXPECT_GT(most, 0.5F * 1.73F);
}

TEST(InitialEmbedding, IsNormal) {
  TrainOptions options;
  options.dim = 100;
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  constexpr int kRows = 2000;
  constexpr double kScale = 0.5;
  for (int row = 0; row < kRows; ++row) {
    for (const double x : Embedding(options, kScale, static_cast<std::uint64_t>(row))) {
      sum += x;
      squares += x * x;
      fourth += x * x * x * x;
    }
  }
  constexpr double kCount = kRows * 100.0;
  EXPECT_NEAR(sum / kCount, 0, 5 * kScale / std::sqrt(kCount));  // five standard errors
  EXPECT_NEAR(squares / kCount, kScale * kScale, 5 * kScale * kScale * std::sqrt(2 / kCount));
  EXPECT_NEAR(fourth / kCount / std::pow(kScale, 4), 3, 0.1);  // a normal distribution's; a uniform one has 1.8
}

TEST(InitialEmbedding, IsAFunctionOfSeedAndRow) {
  TrainOptions options;
  const std::vector<float> row = Embedding(options, 1, 5);
  EXPECT_EQ(Embedding(options, 1, 5), row);
  EXPECT_NE(Embedding(options, 1, 6), row);
  EXPECT_NE(Embedding(options, 1, 5 + (std::uint64_t{1} << 32)), row);
  EXPECT_NE(Relation(options, 1, 5), row);
  options.epochs = 99;
  options.batch = 7;
  EXPECT_EQ(Embedding(options, 1, 5), row);
  ++options.seed;
  EXPECT_NE(Embedding(options, 1, 5), row);
}

TEST(InitialRelation, OfRotatEAreUniformPhases) {
  TrainOptions options;
  options.model = ModelKind::kRotatE;
  options.dim = 100;
  int quarters[4] = {};
  for (std::uint64_t row = 0; row < 400; ++row) {
    for (const float phase : Relation(options, 1e-3, row)) {
      ASSERT_GE(phase, -std::numbers::pi_v<float>);
      ASSERT_LE(phase, std::numbers::pi_v<float>);
      const int quarter = static_cast<int>((phase / std::numbers::pi_v<float> + 1) * 2);
      ++quarters[std::min(quarter, 3)];
    }
  }
  for (const int count : quarters) EXPECT_NEAR(count, 5000, 5 * std::sqrt(5000 * 0.75));
}

TEST(InitialRelation, OfOtherModelsAreNormal) {
  TrainOptions options;
  options.dim = 64;
  double squares = 0;
  for (std::uint64_t row = 0; row < 100; ++row) {
    for (const double x : Relation(options, 2, row)) squares += x * x;
  }
  EXPECT_NEAR(squares / 6400, 4, 0.4);
  EXPECT_EQ(Relation(options, 2, 3), Relation(options, 2, 3));
}

}  // namespace
}  // namespace octavo
