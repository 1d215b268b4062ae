// Comparisons of a query with a candidate by plain loops in double, and what tests of the block kernels share.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/comparison.h"
#include "tests/support/random_rows.h"

namespace octavo {

inline double NaiveComparison(Comparison comparison, std::size_t dim, const float* q, const float* c) {
  double sum = 0;
  const std::size_t half = dim / 2;
  switch (comparison) {
    case Comparison::kInner:
      for (std::size_t l = 0; l < dim; ++l) sum += static_cast<double>(q[l]) * c[l];
      return sum;
    case Comparison::kL1:
      for (std::size_t l = 0; l < dim; ++l) sum -= std::abs(static_cast<double>(q[l]) - c[l]);
      return sum;
    case Comparison::kEuclidean:
      for (std::size_t l = 0; l < dim; ++l) sum += std::pow(static_cast<double>(q[l]) - c[l], 2);
      return -std::sqrt(sum);
    case Comparison::kComplexL1:
      for (std::size_t l = 0; l < half; ++l) {
        sum -= std::hypot(static_cast<double>(q[l]) - c[l], static_cast<double>(q[half + l]) - c[half + l]);
      }
      return sum;
  }
  return 0;
}

// d score / d q_l; d score / d c_l is its negative for distances.
inline double NaiveSlope(Comparison comparison, std::size_t dim, const float* q, const float* c, std::size_t l) {
  const double difference = static_cast<double>(c[l]) - q[l];
  const std::size_t half = dim / 2;
  switch (comparison) {
    case Comparison::kInner:
      return c[l];
    case Comparison::kL1:
      return difference > 0 ? 1 : difference < 0 ? -1 : 0;
    case Comparison::kEuclidean: {
      const double distance = -NaiveComparison(comparison, dim, q, c);
      return distance == 0 ? 0 : difference / distance;
    }
    case Comparison::kComplexL1: {
      const std::size_t re = l % half;
      const double modulus =
          std::hypot(static_cast<double>(q[re]) - c[re], static_cast<double>(q[half + re]) - c[half + re]);
      return modulus == 0 ? 0 : difference / modulus;
    }
  }
  return 0;
}

struct BlockCase {
  std::size_t dim, queries, candidates;
};

// Dims around the vector widths and the panel depth, rows around the register blocks, candidates around the panels.
// All dims are even: complex layouts among the comparisons.
inline std::vector<BlockCase> BlockCases() {
  std::vector<BlockCase> cases = {{2, 1, 1},    {4, 3, 5},    {200, 9, 70}, {256, 4, 33},
                                  {258, 5, 64}, {514, 2, 17}, {520, 3, 65}};
  // Whole panels of each width, the last one written in place: a kernel once wrote past those of 48 columns.
  for (std::size_t candidates = 16; candidates <= 256; candidates += 16) cases.push_back({6, 5, candidates});
  for (std::size_t dim = 2; dim <= 70; dim += 2) cases.push_back({dim, dim % 19 + 1, 3 * dim % 50 + 1});
  return cases;
}

// Compares both gradients of a block with the naive sums. Each is a sum of `terms` products with an error of `error`
// per term.
inline void ExpectNaiveGradients(Comparison comparison, const BlockCase& shape, const std::vector<float>& q,
                                 const std::vector<float>& c, const std::vector<float>& g, double error,
                                 const std::vector<float>& dq, const std::vector<float>& dc) {
  const std::size_t dim = shape.dim, n = shape.queries, m = shape.candidates;
  const auto slope = [&](std::size_t i, std::size_t j, std::size_t l) {
    return NaiveSlope(comparison, dim, q.data() + i * dim, c.data() + j * dim, l);
  };
  for (std::size_t l = 0; l < dim; ++l) {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0, magnitude = 0;
      for (std::size_t j = 0; j < m; ++j) {
        sum += g[i * m + j] * slope(i, j, l);
        magnitude += std::abs(g[i * m + j] * slope(i, j, l));
      }
      ASSERT_NEAR(dq[i * dim + l], sum, error * (magnitude + 1e-3)) << dim << ": query " << i << ", element " << l;
    }
    for (std::size_t j = 0; j < m; ++j) {
      double sum = 0, magnitude = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double s = comparison == Comparison::kInner ? static_cast<double>(q[i * dim + l]) : -slope(i, j, l);
        sum += g[i * m + j] * s;
        magnitude += std::abs(g[i * m + j] * s);
      }
      ASSERT_NEAR(dc[j * dim + l], sum, error * (magnitude + 1e-3)) << dim << ": candidate " << j << ", element " << l;
    }
  }
}

// Runs CompareBlock and BackpropagateBlock on random rows and compares both with the naive loops.
inline void ExpectNaiveBlocks(Comparison comparison, double score_error, double gradient_error) {
  for (const auto& shape : BlockCases()) {
    const auto [dim, n, m] = shape;
    const auto q = RandomRows(n * dim, dim), c = RandomRows(m * dim, dim + 1), g = RandomRows(n * m, dim + 2);
    std::vector<float> scores(n * m), dq(n * dim, 99.0F), dc(m * dim, 99.0F);
    ScoreScratch scratch;
    CompareBlock(comparison, dim, n, q.data(), m, c.data(), scratch, scores.data());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        const double naive = NaiveComparison(comparison, dim, q.data() + i * dim, c.data() + j * dim);
        ASSERT_NEAR(scores[i * m + j], naive, score_error * static_cast<double>(dim)) << dim << ": " << i << ", " << j;
      }
    }
    auto work = g;
    BackpropagateBlock(comparison, dim, n, q.data(), m, c.data(), scores.data(), scratch, work.data(), dq.data(),
                       dc.data());
    ExpectNaiveGradients(comparison, shape, q, c, g, gradient_error, dq, dc);
  }
}

// A pair scored alone has the same bits as in a block.
inline void ExpectPairsKeepTheirBits(Comparison comparison) {
  for (const auto& [dim, n, m] : BlockCases()) {
    const auto q = RandomRows(n * dim, dim), c = RandomRows(m * dim, dim + 1);
    std::vector<float> scores(n * m);
    ScoreScratch scratch;
    CompareBlock(comparison, dim, n, q.data(), m, c.data(), scratch, scores.data());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        float alone = 0;
        CompareBlock(comparison, dim, 1, q.data() + i * dim, 1, c.data() + j * dim, scratch, &alone);
        ASSERT_EQ(alone, scores[i * m + j]) << dim << ": " << i << ", " << j;
      }
    }
  }
}

}  // namespace octavo
