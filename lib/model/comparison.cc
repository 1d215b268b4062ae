// Row by row comparisons, and the choice of the block kernel. Naive version: the formulas of comparison.h, in the order
// of l (tests/support/naive_model.cc).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/comparison.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "model/comparison.h"

#include <cmath>

#include "hwy/highway.h"
#include "model/gemm.h"
#include "model/lanes-inl.h"
#include "model/panel.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

float RowScore(Comparison comparison, std::size_t dim, const float* q, const float* c) {
  LaneSum sum;
  const std::size_t half = dim / 2;
  switch (comparison) {
    case Comparison::kInner:
      ForEachLane(dim,
                  [&](auto d, std::size_t l) HWY_ATTR { sum.AddProduct(d, hn::LoadU(d, q + l), hn::LoadU(d, c + l)); });
      return sum.Total();
    case Comparison::kL1:
      ForEachLane(dim, [&](auto d, std::size_t l)
                           HWY_ATTR { sum.Add(d, hn::Abs(hn::Sub(hn::LoadU(d, q + l), hn::LoadU(d, c + l)))); });
      return -sum.Total();
    case Comparison::kEuclidean:
      ForEachLane(dim, [&](auto d, std::size_t l) HWY_ATTR {
        const auto difference = hn::Sub(hn::LoadU(d, q + l), hn::LoadU(d, c + l));
        sum.AddProduct(d, difference, difference);
      });
      return -std::sqrt(sum.Total());
    case Comparison::kComplexL1:
      ForEachLane(half, [&](auto d, std::size_t l) HWY_ATTR {
        const auto re = hn::Sub(hn::LoadU(d, q + l), hn::LoadU(d, c + l));
        const auto im = hn::Sub(hn::LoadU(d, q + half + l), hn::LoadU(d, c + half + l));
        sum.Add(d, Modulus(d, re, im));
      });
      return -sum.Total();
  }
  return 0;
}

// dq += v, dc (+)= -v at element l.
template <class D>
HWY_INLINE void StoreBoth(D d, hn::Vec<D> v, bool add, std::size_t l, float* dq, float* dc) {
  StoreOrAdd(d, v, true, dq + l);
  StoreOrAdd(d, hn::Neg(v), add, dc + l);
}

void BackRow(Comparison comparison, std::size_t dim, const float* q, const float* c, float score, float g, float* dq,
             bool add, float* dc) {
  const std::size_t half = dim / 2;
  switch (comparison) {
    case Comparison::kInner:
      return ForEachLane(dim, [&](auto d, std::size_t l) HWY_ATTR {
        const auto gradient = hn::Set(d, g);
        StoreOrAdd(d, hn::Mul(gradient, hn::LoadU(d, c + l)), true, dq + l);
        StoreOrAdd(d, hn::Mul(gradient, hn::LoadU(d, q + l)), add, dc + l);
      });
    case Comparison::kL1:
      return ForEachLane(dim, [&](auto d, std::size_t l) HWY_ATTR {
        const auto difference = hn::Sub(hn::LoadU(d, c + l), hn::LoadU(d, q + l));
        StoreBoth(d, hn::Mul(hn::Set(d, g), Sign(d, difference)), add, l, dq, dc);
      });
    case Comparison::kEuclidean: {
      const float h = score == 0.0F ? 0.0F : -g / score;
      return ForEachLane(dim, [&](auto d, std::size_t l) HWY_ATTR {
        const auto difference = hn::Sub(hn::LoadU(d, c + l), hn::LoadU(d, q + l));
        StoreBoth(d, hn::Mul(hn::Set(d, h), difference), add, l, dq, dc);
      });
    }
    case Comparison::kComplexL1:
      return ForEachLane(half, [&](auto d, std::size_t l) HWY_ATTR {
        const auto re = hn::Sub(hn::LoadU(d, c + l), hn::LoadU(d, q + l));
        const auto im = hn::Sub(hn::LoadU(d, c + half + l), hn::LoadU(d, q + half + l));
        const auto h = hn::Mul(hn::Set(d, g), InverseModulus(d, re, im));
        StoreBoth(d, hn::Mul(h, re), add, l, dq, dc);
        StoreBoth(d, hn::Mul(h, im), add, half + l, dq, dc);
      });
  }
}

void CompareRowsTarget(Comparison comparison, std::size_t dim, std::size_t n, const float* queries,
                       const float* candidates, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    scores[i] = RowScore(comparison, dim, queries + i * dim, candidates + i * dim);
  }
}

void BackpropagateRowsTarget(Comparison comparison, std::size_t dim, std::size_t n, const float* queries,
                             const float* candidates, const float* scores, const float* g, float* query_gradients,
                             bool add, float* candidate_gradients) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t row = i * dim;
    BackRow(comparison, dim, queries + row, candidates + row, scores[i], g[i], query_gradients + row, add,
            candidate_gradients + row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(CompareRowsTarget);
HWY_EXPORT(BackpropagateRowsTarget);

}  // namespace

Comparison ComparisonOf(const ModelSpec& spec) {
  switch (spec.kind) {
    case ModelKind::kTransE:
      return spec.norm == Norm::kL1 ? Comparison::kL1 : Comparison::kEuclidean;
    case ModelKind::kRotatE:
      return spec.norm == Norm::kL1 ? Comparison::kComplexL1 : Comparison::kEuclidean;
    default:
      return Comparison::kInner;
  }
}

void CompareRows(Comparison comparison, std::size_t dim, std::size_t n, const float* queries, const float* candidates,
                 float* scores) {
  HWY_DYNAMIC_DISPATCH(CompareRowsTarget)(comparison, dim, n, queries, candidates, scores);
}

void BackpropagateRows(Comparison comparison, std::size_t dim, std::size_t n, const float* queries,
                       const float* candidates, const float* scores, const float* g, float* query_gradients, bool add,
                       float* candidate_gradients) {
  HWY_DYNAMIC_DISPATCH(BackpropagateRowsTarget)
  (comparison, dim, n, queries, candidates, scores, g, query_gradients, add, candidate_gradients);
}

void CompareBlock(Comparison comparison, std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                  const float* candidates, ScoreScratch& scratch, float* scores) {
  const std::size_t half = dim / 2;
  switch (comparison) {
    case Comparison::kInner:
      return GemmTransposedB(n, m, dim, queries, dim, candidates, dim, scores, m, false);
    case Comparison::kL1:
      return RunPanels(L1Panel, n, m, dim, {queries, dim}, {candidates, dim, true}, scores, m, false);
    case Comparison::kComplexL1:
      return RunPanels(ComplexL1Panel, n, m, half, {queries, dim, false, half}, {candidates, dim, true, half}, scores,
                       m, false);
    case Comparison::kEuclidean:
      return EuclideanScores(dim, n, queries, m, candidates, scratch, scores);
  }
}

void BackpropagateBlock(Comparison comparison, std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                        const float* candidates, const float* scores, ScoreScratch& scratch, float* g,
                        float* query_gradients, float* candidate_gradients) {
  switch (comparison) {
    case Comparison::kInner:
      Gemm(n, dim, m, g, m, candidates, dim, query_gradients, dim, false);
      return GemmTransposedA(m, dim, n, g, m, queries, dim, candidate_gradients, dim, false);
    case Comparison::kL1:
      return L1Gradients(dim, n, queries, m, candidates, g, query_gradients, candidate_gradients);
    case Comparison::kComplexL1:
      return ComplexL1Gradients(dim, n, queries, m, candidates, g, query_gradients, candidate_gradients);
    case Comparison::kEuclidean:
      return EuclideanGradients(dim, n, queries, m, candidates, scores, scratch, g, query_gradients,
                                candidate_gradients);
  }
}

}  // namespace octavo
#endif  // HWY_ONCE
