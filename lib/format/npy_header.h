// The NumPy .npy header, format 1.0, padded to 4,096 bytes so that the data after it is page-aligned.
// Format: numpy.lib.format in NumPy's documentation (NEP 1).
//
//   float32  '<f4'
//   bf16     '<u2', as NumPy has no such type: the upper 16 bits of a float32 (sign, 8 bits of exponent, 7 of
//            mantissa). (words.astype('uint32') << 16).view('float32') converts it to float32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

inline constexpr std::size_t kNpyHeaderBytes = 4096;

// How one value of a table is stored. Manifests contain these numbers.
enum class NpyElement : std::uint8_t { kFloat32 = 0, kBfloat16 = 1 };

constexpr std::uint64_t ElementBytes(NpyElement element) { return element == NpyElement::kBfloat16 ? 2 : 4; }
// "float32" or "bf16".
constexpr std::string_view ElementName(NpyElement element) {
  return element == NpyElement::kBfloat16 ? "bf16" : "float32";
}
// NumPy's name of the type, "<f4" or "<u2".
constexpr std::string_view NpyTypeOf(NpyElement element) { return element == NpyElement::kBfloat16 ? "<u2" : "<f4"; }

// A two-dimensional table of little-endian values in C order.
struct NpyShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  NpyElement element = NpyElement::kFloat32;

  // REQUIRES: the shape is valid for a file (NpyFileBytes is ok)
  std::uint64_t row_bytes() const { return columns * ElementBytes(element); }

  friend bool operator==(const NpyShape&, const NpyShape&) = default;
};

std::array<std::byte, kNpyHeaderBytes> EncodeNpyHeader(const NpyShape& shape);
// The same for an array of any NumPy type, such as "<f2", for other programs to read.
std::array<std::byte, kNpyHeaderBytes> EncodeNpyHeader(std::string_view type, std::uint64_t rows,
                                                       std::uint64_t columns);

// Parses the head of a .npy file that EncodeNpyHeader or NumPy wrote and returns the shape. `bytes` holds the file's
// first kNpyHeaderBytes or fewer; `file_name` is for messages. A corrupt-file error says what was found and what was
// expected: magic, version, type, order, two dimensions, header length kNpyHeaderBytes, and a size that does not
// overflow.
absl::StatusOr<NpyShape> DecodeNpyHeader(std::span<const std::byte> bytes, std::string_view file_name);

struct NpyLayout {
  NpyShape shape;
  std::uint64_t data_offset = 0;  // offset of the first value in the file
};

// The same for a file that another program wrote. Its header may have any length up to kNpyHeaderBytes. Errors are
// input errors.
absl::StatusOr<NpyLayout> DecodeForeignNpyHeader(std::span<const std::byte> bytes, std::string_view file_name);

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
// The bytes needed to know the length of a header of any version.
inline constexpr std::size_t kNpyPreambleBytes = 12;

// A two-dimensional array of integers that another program wrote: little-endian, in C order.
struct NpyIntegers {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::size_t value_bytes = 8;  // 4 or 8
  bool is_signed = true;

  friend bool operator==(const NpyIntegers&, const NpyIntegers&) = default;
};

// Returns the length of the whole header, at least kNpyPreambleBytes. `preamble` holds the file's first
// kNpyPreambleBytes or fewer. An input error if the format is not 1.0 to 3.0 or the header is longer than 64 KiB.
absl::StatusOr<std::size_t> NpyHeaderLength(std::string_view preamble, std::string_view file_name);

// Parses a whole header of NpyHeaderLength bytes. Any other type, order or number of dimensions is an input error, as
// is a size that overflows.
absl::StatusOr<NpyIntegers> DecodeNpyIntegers(std::string_view header, std::string_view file_name);

// Returns the size of the whole file, header and data. An overflow is an error.
absl::StatusOr<std::uint64_t> NpyFileBytes(const NpyShape& shape);

}  // namespace octavo
