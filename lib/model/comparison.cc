// Naive version: the table of queries and the formulas of comparison.h, in the order of l
// (tests/support/naive_model.cc). Sines and cosines are Highway's: at most 3 units in the last place of error for
// phases up to 39,000 radians.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/comparison.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "model/comparison.h"

#include <cmath>

#include "base/lanes-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "model/gemm.h"
#include "model/panel.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

// ---- Queries.

template <class D>
struct Complex {
  hn::Vec<D> re;
  hn::Vec<D> im;

  static HWY_INLINE Complex Load(D d, const float* row, std::size_t half, std::size_t i) {
    return {hn::LoadU(d, row + i), hn::LoadU(d, row + half + i)};
  }
  HWY_INLINE void Store(D d, float* row, std::size_t half, std::size_t i) const {
    hn::StoreU(re, d, row + i);
    hn::StoreU(im, d, row + half + i);
  }
  // this * other
  HWY_INLINE Complex Times(const Complex& other) const {
    return {hn::MulSub(re, other.re, hn::Mul(im, other.im)), hn::MulAdd(re, other.im, hn::Mul(im, other.re))};
  }
  // this * conj other
  HWY_INLINE Complex TimesConjugate(const Complex& other) const {
    return {hn::MulAdd(re, other.re, hn::Mul(im, other.im)), hn::MulSub(im, other.re, hn::Mul(re, other.im))};
  }
};

template <class D>
HWY_INLINE Complex<D> Rotation(D d, const float* phases, std::size_t i) {
  const auto phase = hn::LoadU(d, phases + i);
  return {hn::Cos(d, phase), hn::Sin(d, phase)};
}

template <class D>
HWY_INLINE void StoreOrAdd(D d, const Complex<D>& z, bool add, float* row, std::size_t half, std::size_t i) {
  StoreOrAdd(d, z.re, add, row + i);
  StoreOrAdd(d, z.im, add, row + half + i);
}

// Writes one half of `from`, the first if `first`, to the other half of `to`, and 0 to the rest of `to`.
void MoveHalf(std::size_t half, bool first, const float* from, float* to) {
  const float* const source = from + (first ? 0 : half);
  float* const target = to + (first ? half : 0);
  float* const rest = to + (first ? 0 : half);
  ForEachLane(half, [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::LoadU(d, source + i), d, target + i);
    hn::StoreU(hn::Zero(d), d, rest + i);
  });
}

// Adds the half of `g` that the query uses to the half of `gradient` that it came from; without `add` overwrites, and
// the rest is 0.
void MoveHalfBack(std::size_t half, bool first, const float* g, bool add, float* gradient) {
  const float* const source = g + (first ? half : 0);
  float* const target = gradient + (first ? 0 : half);
  float* const rest = gradient + (first ? half : 0);
  ForEachLane(half, [&](auto d, std::size_t i) HWY_ATTR {
    StoreOrAdd(d, hn::LoadU(d, source + i), add, target + i);
    if (!add) hn::StoreU(hn::Zero(d), d, rest + i);
  });
}

// q' = k' R of one block [side, side]: with rows of R in turn.
void TimesMatrix(std::size_t side, const float* k, const float* matrix, float* q) {
  ForEachLane(side, [&](auto d, std::size_t j) HWY_ATTR { hn::StoreU(hn::Zero(d), d, q + j); });
  for (std::size_t i = 0; i < side; ++i) {
    const float* const row = matrix + i * side;
    ForEachLane(side, [&](auto d, std::size_t j) HWY_ATTR {
      hn::StoreU(hn::MulAdd(hn::Set(d, k[i]), hn::LoadU(d, row + j), hn::LoadU(d, q + j)), d, q + j);
    });
  }
}

// q = R k of one block, added if `add`.
void MatrixTimes(std::size_t side, const float* matrix, const float* k, bool add, float* q) {
  for (std::size_t i = 0; i < side; ++i) {
    const float* const row = matrix + i * side;
    LaneSum sum;
    ForEachLane(side,
                [&](auto d, std::size_t j) HWY_ATTR { sum.AddProduct(d, hn::LoadU(d, row + j), hn::LoadU(d, k + j)); });
    q[i] = (add ? q[i] : 0.0F) + sum.Total();
  }
}

void MakeRescalQuery(const ModelSpec& spec, bool tail, const float* anchor, const float* relation, float* query) {
  const std::size_t side = spec.BlockSide();
  for (std::size_t b = 0; b < spec.dim; b += side, relation += side * side) {
    if (tail) {
      TimesMatrix(side, anchor + b, relation, query + b);
    } else {
      MatrixTimes(side, relation, anchor + b, false, query + b);
    }
  }
}

// With g the gradient of the query. Tail side: dk = R g, dR = k g'. Head side: dk' = g' R, dR = g k'.
void BackRescalQuery(const ModelSpec& spec, bool tail, const float* anchor, const float* relation, const float* g,
                     bool add, float* anchor_gradient, float* relation_gradient) {
  const std::size_t side = spec.BlockSide();
  for (std::size_t b = 0; b < spec.dim; b += side, relation += side * side, relation_gradient += side * side) {
    const float* const rows = tail ? anchor + b : g + b;
    const float* const columns = tail ? g + b : anchor + b;
    if (!tail && !add) {
      ForEachLane(side, [&](auto d, std::size_t j) HWY_ATTR { hn::StoreU(hn::Zero(d), d, anchor_gradient + b + j); });
    }
    for (std::size_t i = 0; i < side; ++i) {
      const float* const row = relation + i * side;
      ForEachLane(side, [&](auto d, std::size_t j) HWY_ATTR {
        const auto factor = hn::Set(d, rows[i]);
        hn::StoreU(hn::Mul(factor, hn::LoadU(d, columns + j)), d, relation_gradient + i * side + j);
        if (!tail) StoreOrAdd(d, hn::Mul(factor, hn::LoadU(d, row + j)), true, anchor_gradient + b + j);
      });
    }
    if (tail) MatrixTimes(side, relation, g + b, add, anchor_gradient + b);
  }
}

// One row of the table of comparison.h.
void MakeQuery(const ModelSpec& spec, Side side, const float* anchor, const float* relation, float* query) {
  const bool tail = side == Side::kTail;
  const std::size_t half = spec.dim / 2;
  switch (spec.kind) {
    case ModelKind::kDot:
      return ForEachLane(spec.dim,
                         [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(hn::LoadU(d, anchor + i), d, query + i); });
    case ModelKind::kDistMult:
      return ForEachLane(spec.dim, [&](auto d, std::size_t i) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::LoadU(d, anchor + i), hn::LoadU(d, relation + i)), d, query + i);
      });
    case ModelKind::kTransE:
      return ForEachLane(spec.dim, [&](auto d, std::size_t i) HWY_ATTR {
        const auto k = hn::LoadU(d, anchor + i);
        const auto r = hn::LoadU(d, relation + i);
        hn::StoreU(tail ? hn::Add(k, r) : hn::Sub(k, r), d, query + i);
      });
    case ModelKind::kComplEx:
      return ForEachLane(half, [&](auto d, std::size_t i) HWY_ATTR {
        const auto k = Complex<decltype(d)>::Load(d, anchor, half, i);
        const auto r = Complex<decltype(d)>::Load(d, relation, half, i);
        (tail ? k.Times(r) : k.TimesConjugate(r)).Store(d, query, half, i);
      });
    case ModelKind::kRotatE:
      return ForEachLane(half, [&](auto d, std::size_t i) HWY_ATTR {
        const auto k = Complex<decltype(d)>::Load(d, anchor, half, i);
        const auto r = Rotation(d, relation, i);
        (tail ? k.Times(r) : k.TimesConjugate(r)).Store(d, query, half, i);
      });
    case ModelKind::kSourceContext:
      return MoveHalf(half, tail, anchor, query);
    case ModelKind::kRescal:
      return MakeRescalQuery(spec, tail, anchor, relation, query);
  }
}

// With g the gradient of the query. Products: dk = g * conj r (tail side), g * r (head side); dr = g * conj k, and its
// conjugate for the head side. A phase turns the query q = k e^(ir) by dq/dr = i q: dr = Im(g conj q) on the tail side,
// minus that on the head side.
void BackQuery(const ModelSpec& spec, Side side, const float* anchor, const float* relation, const float* g, bool add,
               float* anchor_gradient, float* relation_gradient) {
  const bool tail = side == Side::kTail;
  const std::size_t half = spec.dim / 2;
  switch (spec.kind) {
    case ModelKind::kDot:
      return ForEachLane(spec.dim, [&](auto d, std::size_t i)
                                       HWY_ATTR { StoreOrAdd(d, hn::LoadU(d, g + i), add, anchor_gradient + i); });
    case ModelKind::kDistMult:
      return ForEachLane(spec.dim, [&](auto d, std::size_t i) HWY_ATTR {
        const auto gradient = hn::LoadU(d, g + i);
        StoreOrAdd(d, hn::Mul(gradient, hn::LoadU(d, relation + i)), add, anchor_gradient + i);
        hn::StoreU(hn::Mul(gradient, hn::LoadU(d, anchor + i)), d, relation_gradient + i);
      });
    case ModelKind::kTransE:
      return ForEachLane(spec.dim, [&](auto d, std::size_t i) HWY_ATTR {
        const auto gradient = hn::LoadU(d, g + i);
        StoreOrAdd(d, gradient, add, anchor_gradient + i);
        hn::StoreU(tail ? gradient : hn::Neg(gradient), d, relation_gradient + i);
      });
    case ModelKind::kComplEx:
      return ForEachLane(half, [&](auto d, std::size_t i) HWY_ATTR {
        const auto gradient = Complex<decltype(d)>::Load(d, g, half, i);
        const auto k = Complex<decltype(d)>::Load(d, anchor, half, i);
        const auto r = Complex<decltype(d)>::Load(d, relation, half, i);
        StoreOrAdd(d, tail ? gradient.TimesConjugate(r) : gradient.Times(r), add, anchor_gradient, half, i);
        (tail ? gradient.TimesConjugate(k) : k.TimesConjugate(gradient)).Store(d, relation_gradient, half, i);
      });
    case ModelKind::kRotatE:
      return ForEachLane(half, [&](auto d, std::size_t i) HWY_ATTR {
        const auto gradient = Complex<decltype(d)>::Load(d, g, half, i);
        const auto k = Complex<decltype(d)>::Load(d, anchor, half, i);
        const auto r = Rotation(d, relation, i);
        StoreOrAdd(d, tail ? gradient.TimesConjugate(r) : gradient.Times(r), add, anchor_gradient, half, i);
        const auto turned = gradient.TimesConjugate(tail ? k.Times(r) : k.TimesConjugate(r));
        hn::StoreU(tail ? turned.im : hn::Neg(turned.im), d, relation_gradient + i);
      });
    case ModelKind::kSourceContext:
      return MoveHalfBack(half, tail, g, add, anchor_gradient);
    case ModelKind::kRescal:
      return BackRescalQuery(spec, tail, anchor, relation, g, add, anchor_gradient, relation_gradient);
  }
}

void MakeQueriesTarget(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                       float* queries) {
  const std::size_t width = spec.RelationWidth();
  for (std::size_t i = 0; i < n; ++i) {
    MakeQuery(spec, side, anchors + i * spec.dim, relations + i * width, queries + i * spec.dim);
  }
}

void BackpropagateQueriesTarget(const ModelSpec& spec, Side side, std::size_t n, const float* anchors,
                                const float* relations, const float* query_gradients, bool add, float* anchor_gradients,
                                float* relation_gradients) {
  const std::size_t width = spec.RelationWidth();
  for (std::size_t i = 0; i < n; ++i) {
    BackQuery(spec, side, anchors + i * spec.dim, relations + i * width, query_gradients + i * spec.dim, add,
              anchor_gradients + i * spec.dim, relation_gradients + i * width);
  }
}

// ---- Comparisons, row by row.

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

HWY_EXPORT(MakeQueriesTarget);
HWY_EXPORT(BackpropagateQueriesTarget);
HWY_EXPORT(CompareRowsTarget);
HWY_EXPORT(BackpropagateRowsTarget);

}  // namespace

void MakeQueries(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                 float* queries) {
  HWY_DYNAMIC_DISPATCH(MakeQueriesTarget)(spec, side, n, anchors, relations, queries);
}

void BackpropagateQueries(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                          const float* query_gradients, bool add, float* anchor_gradients, float* relation_gradients) {
  HWY_DYNAMIC_DISPATCH(BackpropagateQueriesTarget)
  (spec, side, n, anchors, relations, query_gradients, add, anchor_gradients, relation_gradients);
}

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
      return Gemm(n, m, dim, {queries, dim}, {candidates, dim, true}, scores, m, false);
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
      Gemm(n, dim, m, {g, m}, {candidates, dim}, query_gradients, dim, false);
      return Gemm(m, dim, n, {g, m, true}, {queries, dim}, candidate_gradients, dim, false);
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
