#include "optimize/optimizer.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

constexpr OptimizerKind kKinds[] = {OptimizerKind::kSgd, OptimizerKind::kAdagrad, OptimizerKind::kRowAdagrad,
                                    OptimizerKind::kAdam};

// The formulas of optimizer.h in double.
class NaiveOptimizer {
 public:
  NaiveOptimizer(const OptimizerSpec& spec, std::vector<float> row)
      : spec_(spec), row_(row.begin(), row.end()), state_(StateWidth(spec.kind, row.size())) {}

  void Update(double rate, double step, const std::vector<float>& g) {
    const std::size_t n = row_.size();
    double mean = 0;
    for (const float x : g) mean += static_cast<double>(x) * x / static_cast<double>(n);
    if (spec_.kind == OptimizerKind::kRowAdagrad) state_[0] += mean;
    for (std::size_t i = 0; i < n; ++i) row_[i] -= rate * Direction(i, g[i], step);
  }
  const std::vector<double>& row() const { return row_; }
  const std::vector<double>& state() const { return state_; }

 private:
  double Direction(std::size_t i, double g, double step) {
    const double beta1 = spec_.beta1, beta2 = spec_.beta2, epsilon = spec_.epsilon;
    switch (spec_.kind) {
      case OptimizerKind::kSgd:
        return g;
      case OptimizerKind::kAdagrad:
        state_[i] += g * g;
        return g / (std::sqrt(state_[i]) + epsilon);
      case OptimizerKind::kRowAdagrad:
        return g / (std::sqrt(state_[0]) + epsilon);
      case OptimizerKind::kAdam: {
        double& m = state_[i];
        double& v = state_[row_.size() + i];
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * g * g;
        return m / (1 - std::pow(beta1, step)) / (std::sqrt(v / (1 - std::pow(beta2, step))) + epsilon);
      }
    }
    return 0;
  }

  OptimizerSpec spec_;
  std::vector<double> row_;
  std::vector<double> state_;
};

TEST(OptimizerTest, StepsAgreeWithNaiveForEveryWidth) {
  for (const OptimizerKind kind : kKinds) {
    const OptimizerSpec spec{.kind = kind, .epsilon = 1e-6F};
    for (std::size_t width = 1; width <= 70; ++width) {
      std::vector<float> row = RandomRows(width, 1), state(StateWidth(kind, width));
      NaiveOptimizer naive(spec, row);
      for (std::uint64_t step = 1; step <= 9; step += 2) {  // lazy rows miss steps
        const auto gradient = RandomRows(width, 10 + step);
        UpdateRow(spec, 0.1F, step, gradient, row, state);
        naive.Update(0.1F, static_cast<double>(step), gradient);
      }
      // Five steps of size about 0.1, a few roundings each, on rows of size about 1.
      for (std::size_t i = 0; i < width; ++i) ASSERT_NEAR(row[i], naive.row()[i], 2e-6) << OptimizerName(kind) << width;
      for (std::size_t i = 0; i < state.size(); ++i) {
        ASSERT_NEAR(state[i], naive.state()[i], 1e-6 * (1 + std::abs(naive.state()[i])))
            << OptimizerName(kind) << width;
      }
    }
  }
}

TEST(OptimizerTest, ZeroGradientOnFreshStateMovesNothing) {
  for (const OptimizerKind kind : kKinds) {
    const auto before = RandomRows(19, 1);
    auto row = before;
    std::vector<float> state(StateWidth(kind, 19));
    UpdateRow({.kind = kind}, 0.1F, 1, std::vector<float>(19), row, state);
    EXPECT_EQ(row, before) << OptimizerName(kind);
    EXPECT_THAT(state, testing::Each(0.0F));
  }
}

// The result does not depend on a row's address, or on what follows it in memory.
TEST(OptimizerTest, BitsDoNotDependOnAlignment) {
  for (const OptimizerKind kind : kKinds) {
    const std::size_t width = 37;
    const auto gradient = RandomRows(width, 2);
    std::vector<float> expected = RandomRows(width, 1), expected_state(StateWidth(kind, width), 0.5F);
    UpdateRow({.kind = kind}, 0.1F, 3, gradient, expected, expected_state);
    for (std::size_t shift = 1; shift < 16; ++shift) {
      std::vector<float> memory(shift + width + 5, 77.0F), state(StateWidth(kind, width), 0.5F);
      const auto fresh = RandomRows(width, 1);
      std::copy(fresh.begin(), fresh.end(), memory.begin() + static_cast<std::ptrdiff_t>(shift));
      UpdateRow({.kind = kind}, 0.1F, 3, gradient, std::span(memory).subspan(shift, width), state);
      for (std::size_t i = 0; i < width; ++i) ASSERT_EQ(memory[shift + i], expected[i]) << OptimizerName(kind);
      for (std::size_t i = shift + width; i < memory.size(); ++i) ASSERT_EQ(memory[i], 77.0F);
      ASSERT_EQ(state, expected_state);
    }
  }
}

TEST(OptimizerTest, NanGradientReachesTheRow) {
  for (const OptimizerKind kind : kKinds) {
    std::vector<float> row = RandomRows(19, 1), state(StateWidth(kind, 19)), gradient(19, 1.0F);
    gradient[18] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(UpdateRow({.kind = kind}, 0.1F, 1, gradient, row, state));
    EXPECT_TRUE(std::isnan(row[18])) << OptimizerName(kind);
  }
}

TEST(OptimizerTest, SaysWhetherTheRowIsFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const OptimizerKind kind : kKinds) {
    for (const std::size_t width : {1, 4, 19, 37}) {
      const std::vector<float> gradient(width, 1.0F);
      for (std::size_t at = 0; at < width; ++at) {
        for (const float broken : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 3e38F}) {
          std::vector<float> row(width, 1.0F), state(StateWidth(kind, width));
          row[at] = broken;
          EXPECT_EQ(UpdateRow({.kind = kind}, 0.1F, 1, gradient, row, state), broken == 3e38F)
              << OptimizerName(kind) << width << at;
          // What counts is the row after the update.
          std::vector<float> fine(width, 1.0F), fresh(StateWidth(kind, width)), bad = gradient;
          bad[at] = std::numeric_limits<float>::quiet_NaN();
          EXPECT_FALSE(UpdateRow({.kind = kind}, 0.1F, 1, bad, fine, fresh)) << OptimizerName(kind) << width << at;
        }
      }
    }
  }
}

TEST(OptimizerTest, EmptyRowIsFine) {
  for (const OptimizerKind kind : kKinds) {
    std::vector<float> state(StateWidth(kind, 0));
    EXPECT_TRUE(UpdateRow({.kind = kind}, 0.1F, 1, {}, {}, state));
  }
}

TEST(OptimizerTest, StateWidths) {
  EXPECT_EQ(StateWidth(OptimizerKind::kSgd, 7), 0U);
  EXPECT_EQ(StateWidth(OptimizerKind::kAdagrad, 7), 7U);
  EXPECT_EQ(StateWidth(OptimizerKind::kRowAdagrad, 7), 1U);
  EXPECT_EQ(StateWidth(OptimizerKind::kAdam, 7), 14U);
}

TEST(OptimizerTest, NamesAreParsedBack) {
  for (const OptimizerKind kind : kKinds) EXPECT_EQ(ParseOptimizer(OptimizerName(kind)).value(), kind);
  const auto bad = ParseOptimizer("adamw");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(KindOf(bad.status()), ErrorKind::kUsage);
  EXPECT_THAT(MessageOf(bad.status()), testing::HasSubstr("sgd, adagrad, row-adagrad or adam"));
}

}  // namespace
}  // namespace octavo
