// Naive version: the table of query.h, element by element. Sines and cosines are Highway's: at most 3 units in the last
// place of error for phases up to 39,000 radians.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/query.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "model/query.h"

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "model/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

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

// One row of the table of query.h.
void MakeRow(const ModelSpec& spec, Side side, const float* anchor, const float* relation, float* query) {
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
  }
}

// With g the gradient of the query. Products: dk = g * conj r (tail side), g * r (head side); dr = g * conj k, and its
// conjugate for the head side. A phase turns the query q = k e^(ir) by dq/dr = i q: dr = Im(g conj q) on the tail side,
// minus that on the head side.
void BackRow(const ModelSpec& spec, Side side, const float* anchor, const float* relation, const float* g, bool add,
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
  }
}

void MakeQueriesTarget(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                       float* queries) {
  const std::size_t width = spec.RelationWidth();
  for (std::size_t i = 0; i < n; ++i) {
    MakeRow(spec, side, anchors + i * spec.dim, relations + i * width, queries + i * spec.dim);
  }
}

void BackpropagateQueriesTarget(const ModelSpec& spec, Side side, std::size_t n, const float* anchors,
                                const float* relations, const float* query_gradients, bool add, float* anchor_gradients,
                                float* relation_gradients) {
  const std::size_t width = spec.RelationWidth();
  for (std::size_t i = 0; i < n; ++i) {
    BackRow(spec, side, anchors + i * spec.dim, relations + i * width, query_gradients + i * spec.dim, add,
            anchor_gradients + i * spec.dim, relation_gradients + i * width);
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

}  // namespace octavo
#endif  // HWY_ONCE
