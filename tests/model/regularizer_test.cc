#include "model/regularizer.h"

#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/naive_model.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

constexpr RegularizerKind kRegularizers[] = {RegularizerKind::kNone, RegularizerKind::kL2, RegularizerKind::kN3};

TEST(RegularizerTest, AgreesWithNaivePenaltyAndItsDifferences) {
  constexpr double kStep = 1e-5;
  for (const RegularizerKind kind : kRegularizers) {
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
  for (const RegularizerKind kind : kRegularizers) {
    const std::vector<float> row(20);
    std::vector<float> gradient(20);
    EXPECT_EQ(AddRegularizer({kind, 1.0F}, true, 1.0F, row, gradient), 0);
    EXPECT_THAT(gradient, testing::Each(0.0F));
  }
}

TEST(RegularizerTest, DuraAgreesWithItsNaiveFormAndDifferences) {
  constexpr double kStep = 1e-5;
  for (std::size_t dim = 1; dim <= 75; ++dim) {
    for (const bool complex_layout : {false, true}) {
      if (complex_layout && dim % 2 != 0) continue;
      const std::vector<float> rows[] = {RandomRows(dim, dim), RandomRows(dim, 3), RandomRows(dim, 4)};
      std::vector<float> slopes[] = {RandomRows(dim, 2), RandomRows(dim, 5), RandomRows(dim, 6)};
      const std::vector<float> before[] = {slopes[0], slopes[1], slopes[2]};
      const double penalty = AddDura({RegularizerKind::kDura, 0.25F}, complex_layout, {rows[0], rows[1], rows[2]},
                                     {slopes[0], slopes[1], slopes[2]});
      std::vector<double> x[3];
      for (int i = 0; i < 3; ++i) x[i].assign(rows[i].begin(), rows[i].end());
      const auto naive = [&] { return NaiveDura(0.25, complex_layout, x[0], x[1], x[2]); };
      ASSERT_NEAR(penalty, naive(), 2e-6 * naive()) << dim;
      for (int i = 0; i < 3; ++i) {
        for (std::size_t l = 0; l < dim; ++l) {
          const double at = x[i][l];
          x[i][l] = at + kStep;
          const double above = naive();
          x[i][l] = at - kStep;
          const double below = naive();
          x[i][l] = at;
          ASSERT_NEAR(slopes[i][l], before[i][l] + (above - below) / (2 * kStep), 1e-5) << i << " " << dim;
        }
      }
    }
  }
}

TEST(RegularizerTest, NamesAreParsedBack) {
  EXPECT_EQ(ParseRegularizer("dura").value(), RegularizerKind::kDura);
  for (const RegularizerKind kind : kRegularizers) EXPECT_EQ(ParseRegularizer(RegularizerName(kind)).value(), kind);
  const auto bad = ParseRegularizer("l3");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(KindOf(bad.status()), ErrorKind::kUsage);
  EXPECT_THAT(MessageOf(bad.status()), testing::HasSubstr("none, l2, n3 or dura"));
}

}  // namespace
}  // namespace octavo
