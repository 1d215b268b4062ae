#include "model/comparison.h"

#include "tests/model/naive_comparison.h"

namespace octavo {
namespace {

constexpr Comparison kAll[] = {Comparison::kInner, Comparison::kL1, Comparison::kEuclidean, Comparison::kComplexL1};

TEST(ComparisonTest, IsThatOfTheModel) {
  EXPECT_EQ(ComparisonOf({ModelKind::kDot, Norm::kL2, 4}), Comparison::kInner);
  EXPECT_EQ(ComparisonOf({ModelKind::kComplEx, Norm::kL2, 4}), Comparison::kInner);
  EXPECT_EQ(ComparisonOf({ModelKind::kSourceContext, Norm::kL2, 4}), Comparison::kInner);
  EXPECT_EQ(ComparisonOf({ModelKind::kTransE, Norm::kL1, 4}), Comparison::kL1);
  EXPECT_EQ(ComparisonOf({ModelKind::kTransE, Norm::kL2, 4}), Comparison::kEuclidean);
  EXPECT_EQ(ComparisonOf({ModelKind::kRotatE, Norm::kL1, 4}), Comparison::kComplexL1);
  EXPECT_EQ(ComparisonOf({ModelKind::kRotatE, Norm::kL2, 4}), Comparison::kEuclidean);
}

TEST(ComparisonTest, RowsAgreeWithNaiveLoopForEveryDim) {
  const std::size_t n = 3;
  for (const Comparison comparison : kAll) {
    for (std::size_t dim = 2; dim <= 257; ++dim) {
      if (comparison == Comparison::kComplexL1 && dim % 2 != 0) continue;
      const auto q = RandomRows(n * dim, dim), c = RandomRows(n * dim, dim + 1), g = RandomRows(n, 7);
      const auto before = RandomRows(n * dim, 8);
      std::vector<float> scores(n);
      CompareRows(comparison, dim, n, q.data(), c.data(), scores.data());
      for (const bool add : {false, true}) {
        auto dq = before, dc = before;
        BackpropagateRows(comparison, dim, n, q.data(), c.data(), scores.data(), g.data(), dq.data(), add, dc.data());
        for (std::size_t i = 0; i < n; ++i) {
          const float* const query = q.data() + i * dim;
          const float* const candidate = c.data() + i * dim;
          double magnitude = 0;
          for (std::size_t l = 0; l < dim; ++l) magnitude += std::abs(query[l] * candidate[l]);
          const double naive = NaiveComparison(comparison, dim, query, candidate);
          if (comparison != Comparison::kInner) magnitude = -naive;
          // One rounding of 6e-8 for each addition, 4 units in the last place for a term.
          ASSERT_NEAR(scores[i], naive, 6e-8 * static_cast<double>(dim + 4) * magnitude);
          for (std::size_t l = 0; l < dim; ++l) {
            const std::size_t at = i * dim + l;
            const double slope = NaiveSlope(comparison, dim, query, candidate, l);
            const double back = comparison == Comparison::kInner ? static_cast<double>(q[at]) : -slope;
            ASSERT_NEAR(dq[at], before[at] + g[i] * slope, 4e-6) << dim;
            ASSERT_NEAR(dc[at], (add ? before[at] : 0) + g[i] * back, 4e-6) << dim;
          }
        }
      }
    }
  }
}

TEST(ComparisonTest, GradientOfDistanceZeroIsZero) {
  const std::size_t dim = 22;
  const auto q = RandomRows(dim, 1);
  const float g = 3.0F;
  for (const Comparison comparison : {Comparison::kL1, Comparison::kEuclidean, Comparison::kComplexL1}) {
    float score = 1.0F;
    std::vector<float> dq(dim), dc(dim, 1.0F);
    CompareRows(comparison, dim, 1, q.data(), q.data(), &score);
    BackpropagateRows(comparison, dim, 1, q.data(), q.data(), &score, &g, dq.data(), false, dc.data());
    EXPECT_EQ(score, 0.0F);
    EXPECT_EQ(dq, std::vector<float>(dim));
    EXPECT_EQ(dc, std::vector<float>(dim));
  }
}

// A product of sums: dim (or rows) terms of size about 1.
TEST(ComparisonTest, InnerBlocksAgreeWithNaiveLoops) { ExpectNaiveBlocks(Comparison::kInner, 2e-7, 5e-6); }

TEST(ComparisonTest, InnerPairsKeepTheirBits) { ExpectPairsKeepTheirBits(Comparison::kInner); }

}  // namespace
}  // namespace octavo
