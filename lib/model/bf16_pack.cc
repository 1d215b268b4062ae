// Rounding to bf16 and moves of words by vectors. Naive version of the rounding: model/bf16_round.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/bf16_pack.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include <cstring>

#include "hwy/highway.h"
#include "model/bf16_kernels.h"
#include "model/bf16_product.h"
#include "model/bf16_round.h"

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

HWY_INLINE Bits RoundedAt(const float* from) {
  const hn::RebindToFloat<BitsTag> f;
  return Rounded(hn::BitCast(BitsTag(), hn::LoadU(f, from)));
}

void RoundFloats(std::size_t count, const float* from, float* to) {
  const BitsTag d;
  const hn::RebindToFloat<BitsTag> f;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(hn::BitCast(f, RoundedAt(from + i)), f, to + i);
  for (; i < count; ++i) to[i] = RoundToBf16(from[i]);
}

void RoundWords(std::size_t count, const float* from, std::uint16_t* words) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const BitsTag d;
  const hn::Repartition<std::uint16_t, BitsTag> narrow;
  const std::size_t lanes = hn::Lanes(d);
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto low = hn::BitCast(narrow, RoundedAt(from + i));
    const auto high = hn::BitCast(narrow, RoundedAt(from + i + lanes));
    hn::StoreU(hn::ConcatOdd(narrow, high, low), narrow, words + i);
  }
#endif
  for (; i < count; ++i) {
    const std::uint16_t word = Bf16Word(from[i]);
    std::memcpy(words + i, &word, sizeof(word));  // may be the memory of an earlier float
  }
}

void PairWords(std::size_t count, const float* first, const float* second, std::uint32_t* pairs) {
  const BitsTag d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::Or(hn::ShiftRight<16>(RoundedAt(first + i)), RoundedAt(second + i)), d, pairs + i);
  }
  for (; i < count; ++i) pairs[i] = RoundedBf16Bits(first[i]) >> 16 | RoundedBf16Bits(second[i]);
}

void TwoStrips(std::size_t k, const std::uint16_t* rows, std::size_t stride, std::uint16_t* strips) {
  const BitsTag d;
  const hn::Rebind<std::uint16_t, BitsTag> narrow;
  const std::uint16_t zeros[2 * kBf16Columns] = {};
  const std::size_t pairs = WholeBf16(k, kBf16Block) / 2;
  auto* const out = reinterpret_cast<std::uint32_t*>(strips);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::uint16_t* const first = 2 * pair < k ? rows + 2 * pair * stride : zeros;
    const std::uint16_t* const second = 2 * pair + 1 < k ? rows + (2 * pair + 1) * stride : zeros;
    for (std::size_t strip = 0; strip < 2; ++strip) {
      std::uint32_t* const to = out + (strip * pairs + pair) * kBf16Columns;
      for (std::size_t c = 0; c < kBf16Columns; c += hn::Lanes(d)) {
        const std::size_t column = strip * kBf16Columns + c;
        const Bits low = hn::PromoteTo(d, hn::LoadU(narrow, first + column));
        const Bits high = hn::PromoteTo(d, hn::LoadU(narrow, second + column));
        hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), d, to + c);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(RoundFloats);
HWY_EXPORT(RoundWords);
HWY_EXPORT(PairWords);
HWY_EXPORT(TwoStrips);

}  // namespace

void RoundFloatsToBf16(std::size_t count, const float* from, float* to) {
  HWY_DYNAMIC_DISPATCH(RoundFloats)(count, from, to);
}

void RoundToBf16Words(std::size_t count, const float* from, std::uint16_t* words) {
  HWY_DYNAMIC_DISPATCH(RoundWords)(count, from, words);
}

void PairBf16Words(std::size_t count, const float* first, const float* second, std::uint32_t* pairs) {
  HWY_DYNAMIC_DISPATCH(PairWords)(count, first, second, pairs);
}

void PackTwoStrips(std::size_t k, const std::uint16_t* rows, std::size_t stride, std::uint16_t* strips) {
  HWY_DYNAMIC_DISPATCH(TwoStrips)(k, rows, stride, strips);
}

}  // namespace octavo
#endif  // HWY_ONCE
