#include "export/element_types.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

struct ElementType {
  VectorElement element;
  std::string_view name;
  std::string_view npy_type;
  std::uint64_t bytes;
};

constexpr std::array<ElementType, 3> kElementTypes = {{{VectorElement::kFloat32, "float32", "<f4", 4},
                                                       {VectorElement::kFloat16, "float16", "<f2", 2},
                                                       {VectorElement::kInt8, "int8", "|i1", 1}}};

const ElementType& TypeOf(VectorElement element) { return kElementTypes[static_cast<std::size_t>(element)]; }

}  // namespace

absl::StatusOr<VectorElement> ParseVectorElement(std::string_view name) {
  for (const ElementType& type : kElementTypes) {
    if (type.name == name) return type.element;
  }
  return UsageError(fmt::format("unknown type \"{}\"; expected float32, float16 or int8", Escape(name)));
}

std::string_view NpyTypeOf(VectorElement element) { return TypeOf(element).npy_type; }
std::uint64_t ElementBytes(VectorElement element) { return TypeOf(element).bytes; }

std::uint16_t HalfOf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
  constexpr std::uint32_t kInfinity = 0x7F80'0000U;
  if (magnitude > kInfinity) {  // a NaN keeps the upper bits of its payload, at least one of them set
    const std::uint32_t payload = magnitude >> 13 & 0x3FFU;
    return static_cast<std::uint16_t>(sign | 0x7C00U | (payload == 0 ? 1 : payload));
  }
  constexpr std::uint32_t kTooLarge = 0x477F'F000U;  // 65,520: halfway from the largest half to 2^16
  if (magnitude >= kTooLarge) return static_cast<std::uint16_t>(sign | 0x7C00U);
  constexpr std::uint32_t kSmallestNormal = 0x3880'0000U;  // 2^-14
  if (magnitude < kSmallestNormal) {
    // In units of the smallest half, 2^-24. Adding 2^23 makes the processor round off all bits below, ties to even.
    constexpr float kMagic = 8'388'608.0F;
    const float units = std::bit_cast<float>(magnitude) * 16'777'216.0F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(units + kMagic) & 0xFFFFU));
  }
  // Drops 13 bits of the mantissa; a carry increments the exponent, which is rebased from -126 to -14.
  const std::uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | (rounded - (112U << 23)) >> 13);
}

float Quantize(std::span<const float> row, std::span<std::int8_t> q) {
  float largest = 0.0F;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  float scale = largest / 127.0F;
  if (static_cast<double>(scale) * 127.0 < static_cast<double>(largest)) {
    scale = std::nextafter(scale, std::numeric_limits<float>::infinity());
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double steps = largest == 0.0F ? 0.0 : static_cast<double>(row[i]) / static_cast<double>(scale);
    q[i] = static_cast<std::int8_t>(std::nearbyint(steps));
  }
  return scale;
}

}  // namespace octavo
