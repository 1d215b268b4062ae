// Multiplication and addition of sizes that came from outside (headers, flags): empty on overflow.
#pragma once

#include <cstdint>
#include <optional>

namespace octavo {

inline std::optional<std::uint64_t> CheckedMultiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

inline std::optional<std::uint64_t> CheckedAdd(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// Returns the largest number where the product does not fit.
inline std::uint64_t SaturatingProduct(std::uint64_t a, std::uint64_t b) {
  return CheckedMultiply(a, b).value_or(UINT64_MAX);
}

// Returns `value` rounded up to a multiple of `quantum`. REQUIRES: quantum > 0 and the result fits.
constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t quantum) {
  return (value + quantum - 1) / quantum * quantum;
}

}  // namespace octavo
