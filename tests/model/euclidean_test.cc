#include "tests/model/naive_comparison.h"

namespace octavo {
namespace {

// The error of |q|^2 + |c|^2 - 2 q.c is some eps times 4 * dim, and the root halves it: below 1e-6 * sqrt(dim) here.
TEST(EuclideanTest, BlocksAgreeWithNaiveLoops) { ExpectNaiveBlocks(Comparison::kEuclidean, 1e-6, 2e-5); }

TEST(EuclideanTest, PairsKeepTheirBits) { ExpectPairsKeepTheirBits(Comparison::kEuclidean); }

// Candidates at distances from 1e-6 to 1 of a query of norm about 14, where |q|^2 + |c|^2 - 2 q.c has lost all digits.
TEST(EuclideanTest, ClosePairsAreAsExactAsDistantOnes) {
  const std::size_t dim = 200, n = 9, m = 40;
  const auto q = RandomRows(n * dim, 1), g = RandomRows(n * m, 3);
  auto c = RandomRows(m * dim, 2);
  for (std::size_t j = 0; j < m; j += 2) {
    const float distance = std::pow(10.0F, -static_cast<float>(j) / 6.0F);
    for (std::size_t l = 0; l < dim; ++l) c[j * dim + l] = q[(j % n) * dim + l] + distance * c[j * dim + l] / 14.0F;
  }
  std::vector<float> scores(n * m), dq(n * dim), dc(m * dim);
  ScoreScratch scratch;
  CompareBlock(Comparison::kEuclidean, dim, n, q.data(), m, c.data(), scratch, scores.data());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      const double naive = NaiveComparison(Comparison::kEuclidean, dim, q.data() + i * dim, c.data() + j * dim);
      ASSERT_NEAR(scores[i * m + j], naive, -2e-5 * naive) << i << ", " << j;
    }
  }
  auto work = g;
  BackpropagateBlock(Comparison::kEuclidean, dim, n, q.data(), m, c.data(), scores.data(), scratch, work.data(),
                     dq.data(), dc.data());
  ExpectNaiveGradients(Comparison::kEuclidean, {dim, n, m}, q, c, g, 5e-5, dq, dc);
}

TEST(EuclideanTest, EqualRowsHaveDistanceAndGradientZero) {
  const std::size_t dim = 18, n = 5;
  const auto q = RandomRows(dim, 1);
  std::vector<float> rows;
  for (std::size_t i = 0; i < n; ++i) rows.insert(rows.end(), q.begin(), q.end());
  for (const auto& all : {rows, std::vector<float>(n * dim, 0.0F)}) {
    std::vector<float> scores(n * n), g(n * n, 1.0F), dq(n * dim, 1.0F), dc(n * dim, 1.0F);
    ScoreScratch scratch;
    CompareBlock(Comparison::kEuclidean, dim, n, all.data(), n, all.data(), scratch, scores.data());
    BackpropagateBlock(Comparison::kEuclidean, dim, n, all.data(), n, all.data(), scores.data(), scratch, g.data(),
                       dq.data(), dc.data());
    EXPECT_EQ(scores, std::vector<float>(n * n));
    EXPECT_EQ(dq, std::vector<float>(n * dim));
    EXPECT_EQ(dc, std::vector<float>(n * dim));
  }
}

TEST(EuclideanTest, NanAndInfinityReachTheScore) {
  const std::size_t dim = 20, m = 19;
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    auto q = RandomRows(dim, 1);
    const auto c = RandomRows(m * dim, 2);
    q[17] = bad;
    std::vector<float> scores(m);
    ScoreScratch scratch;
    CompareBlock(Comparison::kEuclidean, dim, 1, q.data(), m, c.data(), scratch, scores.data());
    for (const float score : scores) EXPECT_FALSE(std::isfinite(score));
  }
}

}  // namespace
}  // namespace octavo
