// Loops over rows of any length in whole vectors, then quarters, then single lanes. Included once for each target.
#if defined(OCTAVO_BASE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OCTAVO_BASE_LANES_INL_H_
#undef OCTAVO_BASE_LANES_INL_H_
#else
#define OCTAVO_BASE_LANES_INL_H_
#endif

#include <cstddef>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FullTag = hn::ScalableTag<float>;
using QuarterTag = hn::CappedTag<float, 4>;
using LaneTag = hn::CappedTag<float, 1>;

// Calls body(d, i) with a tag d of shrinking length, so that the vectors at i cover [0, n) once. An element-wise body
// gives an element the same bits whichever tag handles it.
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

// Adds v to `to` where `add`, else overwrites it.
template <class D>
HWY_INLINE void StoreOrAdd(D d, hn::Vec<D> v, bool add, float* to) {
  hn::StoreU(add ? hn::Add(hn::LoadU(d, to), v) : v, d, to);
}

// A sum over a row: one partial sum per lane and one for the remainder, combined in a fixed order, so the result
// depends on the row alone.
class LaneSum {
 public:
  // Explicit: a constructor that the compiler generates would not be compiled for the target.
  HWY_INLINE LaneSum() : full_(hn::Zero(FullTag())), rest_(0.0F) {}

  template <class D>
  HWY_INLINE void Add(D d, hn::Vec<D> v) {
    if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(FullTag())) {
      full_ = hn::Add(full_, v);
    } else {
      rest_ += hn::GetLane(hn::SumOfLanes(d, v));
    }
  }
  // Adds a * b.
  template <class D>
  HWY_INLINE void AddProduct(D d, hn::Vec<D> a, hn::Vec<D> b) {
    if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(FullTag())) {
      full_ = hn::MulAdd(a, b, full_);
    } else {
      rest_ += hn::GetLane(hn::SumOfLanes(d, hn::Mul(a, b)));
    }
  }
  HWY_INLINE float Total() const { return hn::GetLane(hn::SumOfLanes(FullTag(), full_)) + rest_; }

 private:
  hn::Vec<FullTag> full_;
  float rest_;
};

// -1, 0 or 1; 0 for a zero of either sign.
template <class D>
HWY_INLINE hn::Vec<D> Sign(D d, hn::Vec<D> x) {
  return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::CopySign(hn::Set(d, 1.0F), x));
}

// 1 / sqrt(x). Below the smallest normal float, x counts as that, so the result is finite and 0 times it is 0. Uses the
// CPU's estimate (12 bits or more) and one step of Newton's method: the error is at most 4 units in the last place. The
// estimate may differ between tags, so an element's bits depend on its place in the row; those of a row do not depend
// on the row's place.
template <class D>
HWY_INLINE hn::Vec<D> InverseRoot(D d, hn::Vec<D> x) {
  const auto normal = hn::Max(x, hn::Set(d, std::numeric_limits<float>::min()));
#if HWY_TARGET == HWY_SCALAR  // its estimate has 9 bits
  return hn::Div(hn::Set(d, 1.0F), hn::Sqrt(normal));
#else
  const auto r = hn::ApproximateReciprocalSqrt(normal);
  const auto error = hn::Mul(hn::Mul(normal, r), r);
  return hn::Mul(r, hn::NegMulAdd(hn::Set(d, 0.5F), error, hn::Set(d, 1.5F)));
#endif
}

// 1 / |re + i im|; finite where the modulus is 0.
template <class D>
HWY_INLINE hn::Vec<D> InverseModulus(D d, hn::Vec<D> re, hn::Vec<D> im) {
  return InverseRoot(d, hn::MulAdd(re, re, hn::Mul(im, im)));
}

// |re + i im|; NaN where its square overflows.
template <class D>
HWY_INLINE hn::Vec<D> Modulus(D d, hn::Vec<D> re, hn::Vec<D> im) {
  const auto squared = hn::MulAdd(re, re, hn::Mul(im, im));
  return hn::Mul(squared, InverseRoot(d, squared));
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#endif  // include guard of this target
