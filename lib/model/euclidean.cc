// Euclidean distances of a block by a matrix product: |q - c|^2 = |q|^2 + |c|^2 - 2 q.c.
//
// The difference cancels where q and c are close: its error is up to dim * eps * (|q|^2 + |c|^2). So the score and
// gradient of pairs with |q - c|^2 below kCloseFraction of that sum are computed again from the differences; equal rows
// have distance 0 exactly. Naive version: comparison.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/euclidean.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include <algorithm>

#include "base/lanes-inl.h"
#include "hwy/highway.h"
#include "model/comparison.h"
#include "model/gemm.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

// Bounds the relative error of a distance by dim * eps / (2 * kCloseFraction); in practice it is sqrt(dim) for dim.
constexpr float kCloseFraction = 1.0F / 16.0F;
// Marks a score to compute again: real scores are never positive.
constexpr float kCloseMark = 1.0F;

void SquaredNorms(std::size_t dim, std::size_t n, const float* rows, float* norms) {
  for (std::size_t i = 0; i < n; ++i) {
    LaneSum sum;
    ForEachLane(dim, [&](auto d, std::size_t l) HWY_ATTR {
      const auto x = hn::LoadU(d, rows + i * dim + l);
      sum.AddProduct(d, x, x);
    });
    norms[i] = sum.Total();
  }
}

// Turns the inner products of one query with m candidates into scores. Returns whether one was marked as close.
bool ScoreProducts(float query_norm, const float* norms, std::size_t m, float* scores) {
  bool marked = false;
  ForEachLane(m, [&](auto d, std::size_t j) HWY_ATTR {
    const auto norm = hn::Add(hn::Set(d, query_norm), hn::LoadU(d, norms + j));
    const auto squared = hn::NegMulAdd(hn::Set(d, 2.0F), hn::LoadU(d, scores + j), norm);
    const auto close = hn::Le(squared, hn::Mul(hn::Set(d, kCloseFraction), norm));
    marked = marked || !hn::AllFalse(d, close);
    hn::StoreU(hn::IfThenElse(close, hn::Set(d, kCloseMark), hn::Neg(hn::Sqrt(squared))), d, scores + j);
  });
  return marked;
}

// Whether a score of one query is that of a close pair: the criterion of ScoreProducts, from the final distance.
bool AnyClose(float query_norm, const float* norms, std::size_t m, const float* scores) {
  bool any = false;
  ForEachLane(m, [&](auto d, std::size_t j) HWY_ATTR {
    const auto norm = hn::Add(hn::Set(d, query_norm), hn::LoadU(d, norms + j));
    const auto score = hn::LoadU(d, scores + j);
    any = any || !hn::AllFalse(d, hn::Le(hn::Mul(score, score), hn::Mul(hn::Set(d, kCloseFraction), norm)));
  });
  return any;
}

// g = g / distance, or 0 at distance 0; adds it to the sums of the candidates and returns the sum of the query.
float DivideByDistance(std::size_t m, const float* scores, float* g, float* candidate_sums) {
  LaneSum sum;
  ForEachLane(m, [&](auto d, std::size_t j) HWY_ATTR {
    const auto distance = hn::Neg(hn::LoadU(d, scores + j));
    const auto h = hn::IfThenZeroElse(hn::Eq(distance, hn::Zero(d)), hn::Div(hn::LoadU(d, g + j), distance));
    hn::StoreU(h, d, g + j);
    hn::StoreU(hn::Add(hn::LoadU(d, candidate_sums + j), h), d, candidate_sums + j);
    sum.Add(d, h);
  });
  return sum.Total();
}

// gradients -= sums[i] * rows[i]
void SubtractScaled(std::size_t dim, std::size_t n, const float* sums, const float* rows, float* gradients) {
  for (std::size_t i = 0; i < n; ++i) {
    ForEachLane(dim, [&](auto d, std::size_t l) HWY_ATTR {
      float* const gradient = gradients + i * dim + l;
      const auto row = hn::LoadU(d, rows + i * dim + l);
      hn::StoreU(hn::NegMulAdd(hn::Set(d, sums[i]), row, hn::LoadU(d, gradient)), d, gradient);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(SquaredNorms);
HWY_EXPORT(ScoreProducts);
HWY_EXPORT(AnyClose);
HWY_EXPORT(DivideByDistance);
HWY_EXPORT(SubtractScaled);

constexpr float kCloseFraction = HWY_STATIC_DISPATCH(kCloseFraction);
constexpr float kCloseMark = HWY_STATIC_DISPATCH(kCloseMark);

}  // namespace

void EuclideanScores(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                     ScoreScratch& scratch, float* scores) {
  if (scratch.query_norms.size() < n) scratch.query_norms.resize(n);
  if (scratch.candidate_norms.size() < m) scratch.candidate_norms.resize(m);
  Gemm(n, m, dim, {queries, dim}, {candidates, dim, true}, scores, m, false);
  HWY_DYNAMIC_DISPATCH(SquaredNorms)(dim, n, queries, scratch.query_norms.data());
  HWY_DYNAMIC_DISPATCH(SquaredNorms)(dim, m, candidates, scratch.candidate_norms.data());
  for (std::size_t i = 0; i < n; ++i) {
    float* const row = scores + i * m;
    if (!HWY_DYNAMIC_DISPATCH(ScoreProducts)(scratch.query_norms[i], scratch.candidate_norms.data(), m, row)) continue;
    for (std::size_t j = 0; j < m; ++j) {
      if (row[j] != kCloseMark) continue;
      CompareRows(Comparison::kEuclidean, dim, 1, queries + i * dim, candidates + j * dim, row + j);
    }
  }
}

// With h = g / distance: dq_i = sum_j h_ij c_j - (sum_j h_ij) q_i, dc_j = sum_i h_ij q_i - (sum_i h_ij) c_j. Close
// pairs are excluded from h and added as h (c - q), since that difference cancels too.
void EuclideanGradients(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                        const float* scores, ScoreScratch& scratch, float* g, float* query_gradients,
                        float* candidate_gradients) {
  std::fill_n(query_gradients, n * dim, 0.0F);
  std::fill_n(candidate_gradients, m * dim, 0.0F);
  scratch.query_sums.assign(n, 0.0F);
  scratch.candidate_sums.assign(m, 0.0F);
  const float* const norms = scratch.candidate_norms.data();
  for (std::size_t i = 0; i < n; ++i) {
    const float* const row = scores + i * m;
    const float query_norm = scratch.query_norms[i];
    if (HWY_DYNAMIC_DISPATCH(AnyClose)(query_norm, norms, m, row)) {
      for (std::size_t j = 0; j < m; ++j) {
        if (!(row[j] * row[j] <= kCloseFraction * (query_norm + norms[j]))) continue;
        BackpropagateRows(Comparison::kEuclidean, dim, 1, queries + i * dim, candidates + j * dim, row + j,
                          g + i * m + j, query_gradients + i * dim, true, candidate_gradients + j * dim);
        g[i * m + j] = 0.0F;
      }
    }
    scratch.query_sums[i] = HWY_DYNAMIC_DISPATCH(DivideByDistance)(m, row, g + i * m, scratch.candidate_sums.data());
  }
  Gemm(n, dim, m, {g, m}, {candidates, dim}, query_gradients, dim, true);
  Gemm(m, dim, n, {g, m, true}, {queries, dim}, candidate_gradients, dim, true);
  HWY_DYNAMIC_DISPATCH(SubtractScaled)(dim, n, scratch.query_sums.data(), queries, query_gradients);
  HWY_DYNAMIC_DISPATCH(SubtractScaled)(dim, m, scratch.candidate_sums.data(), candidates, candidate_gradients);
}

}  // namespace octavo
#endif  // HWY_ONCE
