#include "tests/model/naive_comparison.h"

namespace octavo {
namespace {

// A score sums up to 520 terms of size about 1 in order; an addition to a sum of s rounds by up to 6e-8 * s, and signs
// mostly cancel. A gradient is a sum of at most 70 exact terms, or of terms of three roundings.
TEST(DistanceTest, L1BlocksAgreeWithNaiveLoops) { ExpectNaiveBlocks(Comparison::kL1, 2e-6, 5e-6); }
TEST(DistanceTest, ComplexL1BlocksAgreeWithNaiveLoops) { ExpectNaiveBlocks(Comparison::kComplexL1, 2e-6, 5e-6); }

TEST(DistanceTest, L1PairsKeepTheirBits) { ExpectPairsKeepTheirBits(Comparison::kL1); }
TEST(DistanceTest, ComplexL1PairsKeepTheirBits) { ExpectPairsKeepTheirBits(Comparison::kComplexL1); }

TEST(DistanceTest, AbsoluteTakesOddDims) {
  for (std::size_t dim = 1; dim <= 257; dim += 8) {
    const auto q = RandomRows(5 * dim, 1), c = RandomRows(7 * dim, 2), g = RandomRows(35, 3);
    std::vector<float> scores(35), dq(5 * dim), dc(7 * dim);
    ScoreScratch scratch;
    CompareBlock(Comparison::kL1, dim, 5, q.data(), 7, c.data(), scratch, scores.data());
    ASSERT_NEAR(scores[34], NaiveComparison(Comparison::kL1, dim, q.data() + 4 * dim, c.data() + 6 * dim),
                2e-6 * static_cast<double>(dim));
    L1Gradients(dim, 5, q.data(), 7, c.data(), g.data(), dq.data(), dc.data());
    ExpectNaiveGradients(Comparison::kL1, {dim, 5, 7}, q, c, g, 5e-6, dq, dc);
  }
}

TEST(DistanceTest, EqualElementsHaveGradientZero) {
  const std::size_t dim = 38, n = 11, m = 3;
  auto q = RandomRows(n * dim, 1);
  std::vector<float> c(q.begin(), q.begin() + m * dim);
  c[5] = -0.0F;
  q[5] = 0.0F;
  const std::vector<float> g(n * m, 1.0F);
  for (const Comparison comparison : {Comparison::kL1, Comparison::kComplexL1}) {
    std::vector<float> scores(n * m), dq(n * dim), dc(m * dim);
    ScoreScratch scratch;
    CompareBlock(comparison, dim, n, q.data(), m, c.data(), scratch, scores.data());
    for (std::size_t j = 0; j < m; ++j) EXPECT_EQ(scores[j * m + j], 0.0F);
    auto work = g;
    BackpropagateBlock(comparison, dim, n, q.data(), m, c.data(), scores.data(), scratch, work.data(), dq.data(),
                       dc.data());
    ExpectNaiveGradients(comparison, {dim, n, m}, q, c, g, 5e-6, dq, dc);
  }
}

}  // namespace
}  // namespace octavo
