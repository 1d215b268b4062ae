// The arithmetic of model/distance.cc without its loads and stores.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/distance_terms.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "bench/distance_terms.h"

#include "base/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

constexpr std::size_t kChains = 4;  // sums that do not wait for each other

// Keeps a result, so that its computation is not left out.
template <class Vector>
HWY_INLINE void Keep(Vector& value) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm volatile("" : : "m"(value) : "memory");
#endif
}

std::size_t L1Target(std::size_t count) {
  const FullTag d;
  const auto sign_bit = hn::SignBit(d);
  const auto step = hn::Set(d, 1.0F / 64);
  auto candidate = hn::Iota(d, 0.0F);
  auto candidate_sum = hn::Zero(d);
  hn::Vec<FullTag> scores[kChains], sums[kChains], queries[kChains];
  for (std::size_t r = 0; r < kChains; ++r) {
    scores[r] = sums[r] = hn::Zero(d);
    queries[r] = hn::Set(d, static_cast<float>(r));
  }
  std::size_t done = 0;
  for (; done < count; done += kChains * hn::Lanes(d)) {
    candidate = hn::Add(candidate, step);
    // The way back comes later than the score, and makes its own difference.
    const auto later = hn::Sub(candidate, step);
    for (std::size_t r = 0; r < kChains; ++r) {
      scores[r] = hn::Sub(scores[r], hn::Abs(hn::Sub(candidate, queries[r])));
      const auto difference = hn::Sub(later, queries[r]);
      const auto slope = hn::Xor(step, hn::And(difference, sign_bit));
      const auto part = hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), slope);
      sums[r] = hn::Add(sums[r], part);
      candidate_sum = hn::Sub(candidate_sum, part);
    }
  }
  for (std::size_t r = 0; r < kChains; ++r) {
    Keep(scores[r]);
    Keep(sums[r]);
  }
  Keep(candidate_sum);
  return done;
}

std::size_t ComplexL1Target(std::size_t count) {
  const FullTag d;
  const auto step = hn::Set(d, 1.0F / 64);
  auto re = hn::Iota(d, 0.0F);
  auto im = hn::Iota(d, 1.0F);
  auto re_sum = hn::Zero(d);
  auto im_sum = hn::Zero(d);
  hn::Vec<FullTag> scores[kChains], re_sums[kChains], im_sums[kChains], queries[kChains];
  for (std::size_t r = 0; r < kChains; ++r) {
    scores[r] = re_sums[r] = im_sums[r] = hn::Zero(d);
    queries[r] = hn::Set(d, static_cast<float>(r) + 0.5F);
  }
  std::size_t done = 0;
  for (; done < count; done += kChains * hn::Lanes(d)) {
    re = hn::Add(re, step);
    im = hn::Sub(im, step);
    const auto later = hn::Sub(re, step);
    for (std::size_t r = 0; r < kChains; ++r) {
      const auto y = hn::Sub(im, queries[r]);
      scores[r] = hn::Sub(scores[r], Modulus(d, hn::Sub(re, queries[r]), y));
      const auto x = hn::Sub(later, queries[r]);
      const auto h = hn::Mul(step, InverseModulus(d, x, y));
      re_sums[r] = hn::MulAdd(h, x, re_sums[r]);
      im_sums[r] = hn::MulAdd(h, y, im_sums[r]);
      re_sum = hn::NegMulAdd(h, x, re_sum);
      im_sum = hn::NegMulAdd(h, y, im_sum);
    }
  }
  for (std::size_t r = 0; r < kChains; ++r) {
    Keep(scores[r]);
    Keep(re_sums[r]);
    Keep(im_sums[r]);
  }
  Keep(re_sum);
  Keep(im_sum);
  return done;
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {

HWY_EXPORT(L1Target);
HWY_EXPORT(ComplexL1Target);

std::size_t ComputeL1Terms(std::size_t count) { return HWY_DYNAMIC_DISPATCH(L1Target)(count); }
std::size_t ComputeComplexL1Terms(std::size_t count) { return HWY_DYNAMIC_DISPATCH(ComplexL1Target)(count); }

}  // namespace octavo
#endif  // HWY_ONCE
