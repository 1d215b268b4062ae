// The number types of exported vectors, and the bytes of one row in each.
//
//   float32  '<f4', unchanged
//   float16  '<f2', IEEE 754 half precision: rounded to nearest, ties to even; magnitudes from 65,520 become infinite;
//            the payload of a NaN is truncated
//   int8     '|i1', a row is q * scale with q in [-127, 127]: scale is the smallest float that maps the row's largest
//            magnitude to 127, and q is rounded to nearest, ties to even, so the error is at most half of the scale
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
// NumPy's name for the type.
std::string_view NpyTypeOf(VectorElement element);
std::uint64_t ElementBytes(VectorElement element);

// Returns the bits of the half-precision number nearest to `value`.
std::uint16_t HalfOf(float value);

// Writes the q of the row and returns its scale; a row of zeros has scale 0.
// REQUIRES: finite values; row and q have the same size
float Quantize(std::span<const float> row, std::span<std::int8_t> q);

}  // namespace octavo
