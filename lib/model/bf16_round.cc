// Rounding by vectors; the header has it for one element.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/bf16_round.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "model/bf16_round.h"

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using BitsTag = hn::ScalableTag<std::uint32_t>;
using Bits = hn::Vec<BitsTag>;

// The bits of rounded floats, by integers: the processor's mode for denormals does not matter.
HWY_INLINE Bits Rounded(Bits bits) {
  const BitsTag d;
  const Bits sign = hn::And(bits, hn::Set(d, 0x80000000U));
  const Bits modulus = hn::Xor(bits, sign);
  const Bits even = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1U));
  const Bits nearest = hn::Add(hn::Add(bits, hn::Set(d, 0x7FFFU)), even);
  const hn::RebindToSigned<BitsTag> s;
  const auto is_denormal = hn::Lt(hn::BitCast(s, modulus), hn::Set(s, 0x00800000));
  const auto is_nan = hn::Gt(hn::BitCast(s, modulus), hn::Set(s, 0x7F800000));
  const Bits quiet = hn::Or(bits, hn::Set(d, 0x00400000U));
  const Bits finite = hn::IfThenElse(hn::RebindMask(d, is_denormal), sign, nearest);
  return hn::And(hn::IfThenElse(hn::RebindMask(d, is_nan), quiet, finite), hn::Set(d, 0xFFFF0000U));
}

void RoundFloats(std::size_t count, const float* from, float* to) {
  const BitsTag d;
  const hn::RebindToFloat<BitsTag> f;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::BitCast(f, Rounded(hn::BitCast(d, hn::LoadU(f, from + i)))), f, to + i);
  }
  for (; i < count; ++i) to[i] = RoundToBf16(from[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(RoundFloats);

}  // namespace

void RoundFloatsToBf16(std::size_t count, const float* from, float* to) {
  HWY_DYNAMIC_DISPATCH(RoundFloats)(count, from, to);
}

}  // namespace octavo
#endif  // HWY_ONCE
