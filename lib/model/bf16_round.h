// The rounding of bf16 operands, one element at a time, and a fused multiply-add whose denormal results are zeros. What
// bf16_product.h defines; the vectors of bf16_round.cc and bf16_fma.cc and the tiles of AMX do the same.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace octavo {

// The bits of the rounded float; its lower half is 0.
inline std::uint32_t RoundedBf16Bits(float value) {
  constexpr std::uint32_t kSign = 0x80000000U, kInfinity = 0x7F800000U, kQuiet = 0x00400000U, kHighHalf = 0xFFFF0000U;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t modulus = bits & ~kSign;
  if (modulus > kInfinity) return (bits | kQuiet) & kHighHalf;
  if (std::bit_cast<float>(modulus) < std::numeric_limits<float>::min()) return bits & kSign;
  return (bits + 0x7FFFU + (bits >> 16 & 1U)) & kHighHalf;
}
inline float RoundToBf16(float value) { return std::bit_cast<float>(RoundedBf16Bits(value)); }
inline std::uint16_t Bf16Word(float value) { return static_cast<std::uint16_t>(RoundedBf16Bits(value) >> 16); }
inline float FromBf16Word(std::uint16_t word) { return std::bit_cast<float>(std::uint32_t{word} << 16); }

// to[i] = from[i], rounded, by vectors; they may be the same memory.
void RoundFloatsToBf16(std::size_t count, const float* from, float* to);

inline float FlushDenormal(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}

// fma(a, b, c); what is denormal after a rounding to 24 bits becomes a zero. REQUIRES: no operand is denormal
//
// A sum just below the smallest normal float rounds up to it in the denormals' coarser steps, but not in 24 bits.
// There, scaling by a power of two is exact, and moves the sum to where the steps are those of 24 bits.
inline float FlushedFma(float a, float b, float c) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  constexpr float kScale = 0x1p64F;
  const float sum = std::fma(a, b, c);
  if (std::fabs(sum) != kSmallest) return FlushDenormal(sum);
  // One factor has at most the magnitude of the root of the product, which is small: scaling it cannot overflow.
  const bool first = std::fabs(a) < std::fabs(b);
  const float scaled = std::fma(first ? a * kScale : a, first ? b : b * kScale, c * kScale);
  return std::fabs(scaled) < kSmallest * kScale ? std::copysign(0.0F, sum) : sum;
}

}  // namespace octavo
