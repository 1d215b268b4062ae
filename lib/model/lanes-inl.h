// Loops over rows of any length in whole vectors, then quarters, then single lanes. Included once for each target.
#if defined(OCTAVO_MODEL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OCTAVO_MODEL_LANES_INL_H_
#undef OCTAVO_MODEL_LANES_INL_H_
#else
#define OCTAVO_MODEL_LANES_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FullTag = hn::ScalableTag<float>;
using QuarterTag = hn::CappedTag<float, 4>;
using LaneTag = hn::CappedTag<float, 1>;

// Calls body(d, i) with a tag d of shrinking length, so that the vectors at i cover [0, n) once. An element-wise body
// gives an element the same bits whichever tag it falls to.
template <class Body>
HWY_INLINE void ForEachLane(std::size_t n, const Body& body) {
  const FullTag full;
  std::size_t i = 0;
  for (; i + hn::Lanes(full) <= n; i += hn::Lanes(full)) body(full, i);
  if constexpr (hn::MaxLanes(FullTag()) > 4) {
    for (const QuarterTag quarter; i + 4 <= n; i += 4) body(quarter, i);
  }
  for (const LaneTag one; i < n; ++i) body(one, i);
}

// A sum (or maximum) over a row: one partial value for each lane of each tag, combined in a fixed order, so that the
// result depends on the row alone.
class LaneSum {
 public:
  // Spelled out: the one that the compiler makes would not be compiled for the target.
  HWY_INLINE LaneSum() : full_(hn::Zero(FullTag())), quarter_(hn::Zero(QuarterTag())), one_(hn::Zero(LaneTag())) {}

  template <class D>
  HWY_INLINE void Add(D, hn::Vec<D> v) {
    if constexpr (hn::MaxLanes(D()) == 1) {
      one_ = hn::Add(one_, v);
    } else if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(FullTag())) {
      full_ = hn::Add(full_, v);
    } else {
      quarter_ = hn::Add(quarter_, v);
    }
  }
  // Adds a * b.
  template <class D>
  HWY_INLINE void AddProduct(D, hn::Vec<D> a, hn::Vec<D> b) {
    if constexpr (hn::MaxLanes(D()) == 1) {
      one_ = hn::MulAdd(a, b, one_);
    } else if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(FullTag())) {
      full_ = hn::MulAdd(a, b, full_);
    } else {
      quarter_ = hn::MulAdd(a, b, quarter_);
    }
  }
  HWY_INLINE float Total() const {
    const float full = hn::GetLane(hn::SumOfLanes(FullTag(), full_));
    const float quarter = hn::GetLane(hn::SumOfLanes(QuarterTag(), quarter_));
    return full + quarter + hn::GetLane(one_);
  }

 private:
  hn::Vec<FullTag> full_;
  hn::Vec<QuarterTag> quarter_;
  hn::Vec<LaneTag> one_;
};

// -1, 0 or 1; 0 for a zero of either sign.
template <class D>
HWY_INLINE hn::Vec<D> Sign(D d, hn::Vec<D> x) {
  return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::CopySign(hn::Set(d, 1.0F), x));
}

// g / |re + i im|, or 0 where the modulus is 0.
template <class D>
HWY_INLINE hn::Vec<D> ScaleByModulus(D d, hn::Vec<D> g, hn::Vec<D> re, hn::Vec<D> im) {
  const auto squared = hn::MulAdd(re, re, hn::Mul(im, im));
  return hn::IfThenZeroElse(hn::Eq(squared, hn::Zero(d)), hn::Div(g, hn::Sqrt(squared)));
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#endif  // include guard of this target
