// The types of number that vectors are exported as, and the bytes of one row in each.
//
//   float32  '<f4', as they are
//   float16  '<f2', IEEE 754's half precision: rounded to the nearest, ties to even; 65,520 and more become infinite,
//            the payload of a NaN is cut
//   int8     '|i1', a row is q * scale with q in [-127, 127]: scale is the smallest float that holds the row's largest
//            magnitude as 127, and q the nearest, ties to even, so no value is off by more than half of the scale
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class VectorElement { kFloat32, kFloat16, kInt8 };

// "float32", "float16", "int8". The error of the parser lists them.
absl::StatusOr<VectorElement> ParseVectorElement(std::string_view name);
// NumPy's name of the type.
std::string_view NpyTypeOf(VectorElement element);
std::uint64_t ElementBytes(VectorElement element);

// Returns the bits of the half that is nearest to `value`.
std::uint16_t HalfOf(float value);

// Writes the row's q and returns its scale; a row of zeros has the scale 0. REQUIRES: finite values, as many q
float Quantize(std::span<const float> row, std::span<std::int8_t> q);

}  // namespace octavo
