// Naive versions: for each i: numbers[i] = value; sums[i] += addends[i]; and: finite = finite && std::isfinite(row[i]).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/float_rows.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "base/float_rows.h"

#include <bit>
#include <cstdint>

#include "base/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

void Fill(std::size_t count, float value, float* numbers) {
  ForEachLane(count, [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(hn::Set(d, value), d, numbers + i); });
}

void Add(std::size_t count, const float* first, const float* second, float* sums) {
  ForEachLane(count, [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, first + i), hn::LoadU(d, second + i)), d, sums + i);
  });
}

// In an infinity or NaN every bit of the exponent is set, so that adding the lowest of them changes the sign.
bool Finite(std::size_t count, const float* row) {
  constexpr std::uint32_t kModulus = 0x7FFFFFFF, kLowestOfExponent = 0x00800000;
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToFloat<decltype(d)> f;
  auto broken = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto modulus = hn::And(hn::BitCast(d, hn::LoadU(f, row + i)), hn::Set(d, kModulus));
    broken = hn::Or(broken, hn::Add(modulus, hn::Set(d, kLowestOfExponent)));
  }
  std::uint32_t rest = 0;
  for (; i < count; ++i) rest |= (std::bit_cast<std::uint32_t>(row[i]) & kModulus) + kLowestOfExponent;
  const bool whole = hn::AllTrue(d, hn::Eq(hn::ShiftRight<31>(broken), hn::Zero(d)));
  return whole && rest >> 31 == 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(Fill);
HWY_EXPORT(Add);
HWY_EXPORT(Finite);

}  // namespace

void FillFloats(std::size_t count, float value, float* numbers) { HWY_DYNAMIC_DISPATCH(Fill)(count, value, numbers); }

void AddFloats(std::size_t count, const float* addends, float* sums) {
  HWY_DYNAMIC_DISPATCH(Add)(count, sums, addends, sums);
}

void AddFloats(std::size_t count, const float* first, const float* second, float* sums) {
  HWY_DYNAMIC_DISPATCH(Add)(count, first, second, sums);
}

bool AllFinite(std::span<const float> row) { return HWY_DYNAMIC_DISPATCH(Finite)(row.size(), row.data()); }

}  // namespace octavo
#endif  // HWY_ONCE
