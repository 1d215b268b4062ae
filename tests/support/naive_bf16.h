// The oracle of bf16 products: the definition of model/bf16_product.h by plain loops, with its own rounding and its own
// flush of denormals. Shares no code with lib/model.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace octavo {

// The nearest of the two neighbours with 8 significant bits, found by dividing.
inline float NaiveBf16(float value) {
  constexpr double kSmallest = std::numeric_limits<float>::min();
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  if (std::fabs(value) < static_cast<float>(kSmallest)) return std::signbit(value) ? -0.0F : 0.0F;
  const double step = std::ldexp(1.0, std::ilogb(value) - 7);
  const double steps = std::fabs(value) / step;
  double whole = std::floor(steps);
  const double rest = steps - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)) ++whole;
  const double rounded = std::copysign(whole * step, value);
  if (std::fabs(rounded) > std::numeric_limits<float>::max()) return static_cast<float>(std::copysign(INFINITY, value));
  return static_cast<float>(rounded);
}

// The float nearest to an exact sum, which is `sum` in 64 bits; a denormal one is a zero. The last bits of a sum that
// 64 bits do not hold decide nothing but in a tie.
inline float NaiveFlush(float rounded, long double sum) {
  constexpr long double kSmallest = std::numeric_limits<float>::min();
  constexpr long double kHalfStep = 0x1p-151L;  // of 24 bits, below the smallest normal float
  const bool tiny = std::fabs(sum) < kSmallest - kHalfStep;
  return tiny ? std::copysign(0.0F, rounded) : rounded;
}
inline float NaiveFlushedFma(float a, float b, float c) {
  return NaiveFlush(std::fma(a, b, c), static_cast<long double>(a) * b + c);
}
inline float NaiveFlushedSum(float a, float b) { return NaiveFlush(a + b, static_cast<long double>(a) + b); }

// One element, from rounded factors: `term(l)` is the pair of them, l < k.
template <typename Term>
float NaiveBf16Element(std::size_t k, const Term& term) {
  float c = 0;
  for (std::size_t block = 0; block < k; block += 32) {
    float sums[2] = {0, 0};
    for (std::size_t l = block; l < block + 32; ++l) {
      float a = 0, b = 0;
      if (l < k) {
        const auto [x, y] = term(l);
        a = NaiveBf16(x);
        b = NaiveBf16(y);
      }
      sums[l % 2] = NaiveFlushedFma(a, b, sums[l % 2]);
    }
    c = NaiveFlushedSum(c, NaiveFlushedSum(sums[0], sums[1]));
  }
  return c;
}

}  // namespace octavo
