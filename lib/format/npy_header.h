// The NumPy .npy header, format 1.0, padded to a fixed 4,096 bytes so that the data behind it is page-aligned.
// Format: numpy.lib.format in NumPy's documentation (NEP 1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

inline constexpr std::size_t kNpyHeaderBytes = 4096;

// A two-dimensional table of little-endian 32-bit floats ('<f4') in C order.
struct NpyShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;

  friend bool operator==(const NpyShape&, const NpyShape&) = default;
};

std::array<std::byte, kNpyHeaderBytes> EncodeNpyHeader(const NpyShape& shape);

// Parses the head of a .npy file that EncodeNpyHeader or NumPy wrote and returns the shape. `file_name` is for
// messages. A corrupt-file error says what was found and what was expected: magic, version, dtype, order, two
// dimensions, header length kNpyHeaderBytes, and a size that does not overflow. `bytes` is the file's first
// kNpyHeaderBytes or fewer.
absl::StatusOr<NpyShape> DecodeNpyHeader(std::span<const std::byte> bytes, std::string_view file_name);

// Returns the size of the whole file: header and data; an error on overflow.
absl::StatusOr<std::uint64_t> NpyFileBytes(const NpyShape& shape);

}  // namespace octavo
