#include "model/regularizer.h"

#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/naive_model.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

constexpr RegularizerKind kKinds[] = {RegularizerKind::kNone, RegularizerKind::kL2, RegularizerKind::kN3};

TEST(RegularizerTest, AgreesWithNaivePenaltyAndItsDifferences) {
  constexpr double kStep = 1e-5;
  for (const RegularizerKind kind : kKinds) {
    const RegularizerSpec spec{kind, 0.25F};
    for (std::size_t dim = 1; dim <= 75; ++dim) {
      for (const bool complex_layout : {false, true}) {
        if (complex_layout && dim % 2 != 0) continue;
        const auto row = RandomRows(dim, dim), before = RandomRows(dim, 2);
        auto gradient = before;
        const double penalty = AddRegularizer(spec, complex_layout, 2.0F, row, gradient);
        std::vector<double> x(row.begin(), row.end());
        // Sums of up to 75 terms in float.
        const double naive = 2 * NaivePenalty(spec, complex_layout, x);
        ASSERT_NEAR(penalty, naive, 2e-6 * naive) << RegularizerName(kind) << " " << dim;
        for (std::size_t l = 0; l < dim; ++l) {
          const double at = x[l];
          x[l] = at + kStep;
          const double above = NaivePenalty(spec, complex_layout, x);
          x[l] = at - kStep;
          const double below = NaivePenalty(spec, complex_layout, x);
          x[l] = at;
          ASSERT_NEAR(gradient[l], before[l] + (above - below) / kStep, 1e-5) << RegularizerName(kind) << " " << dim;
        }
      }
    }
  }
}

TEST(RegularizerTest, ZeroRowHasGradientZero) {
  for (const RegularizerKind kind : kKinds) {
    const std::vector<float> row(20);
    std::vector<float> gradient(20);
    EXPECT_EQ(AddRegularizer({kind, 1.0F}, true, 1.0F, row, gradient), 0);
    EXPECT_THAT(gradient, testing::Each(0.0F));
  }
}

TEST(RegularizerTest, NamesAreParsedBack) {
  for (const RegularizerKind kind : kKinds) EXPECT_EQ(ParseRegularizer(RegularizerName(kind)).value(), kind);
  const auto bad = ParseRegularizer("l3");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(KindOf(bad.status()), ErrorKind::kUsage);
  EXPECT_THAT(MessageOf(bad.status()), testing::HasSubstr("none, l2 or n3"));
}

}  // namespace
}  // namespace octavo
