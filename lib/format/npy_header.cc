#include "format/npy_header.h"

#include <charconv>
#include <cstring>
#include <string>
#include <tuple>

#include "base/checked_math.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Magic "\x93NUMPY", major 1, minor 0, then the length of the dictionary as u16.
constexpr std::array<unsigned char, 8> kMagic = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
constexpr std::size_t kPreambleBytes = kMagic.size() + 2;
// NumPy's own headers have 128 bytes. Those of structured types, which are not supported here, may be longer.
constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 10;

// Parses the dictionary as NumPy writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  bool Literal(std::string_view expected) {
    SkipBlanks();
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  bool Number(std::uint64_t& value) {
    SkipBlanks();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  // Parses a two-dimensional shape and the end of the dictionary.
  bool ShapeAndEnd(std::uint64_t& rows, std::uint64_t& columns) {
    return Literal("'shape':") && Literal("(") && Number(rows) && Literal(",") && Number(columns) &&
           (Literal(",") || true) && Literal(")") && (Literal(",") || true) && Literal("}") && AtEnd();
  }
  bool AtEnd() {
    SkipBlanks();
    return text_.empty() || text_ == "\n";
  }

 private:
  void SkipBlanks() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  std::string_view text_;
};

}  // namespace

std::array<std::byte, kNpyHeaderBytes> EncodeNpyHeader(const NpyShape& shape) {
  return EncodeNpyHeader(NpyTypeOf(shape.element), shape.rows, shape.columns);
}

std::array<std::byte, kNpyHeaderBytes> EncodeNpyHeader(std::string_view type, std::uint64_t rows,
                                                       std::uint64_t columns) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", type, rows, columns);
  dictionary.resize(kNpyHeaderBytes - kPreambleBytes - 1, ' ');
  dictionary += '\n';
  std::array<std::byte, kNpyHeaderBytes> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[kMagic.size()] = static_cast<std::byte>(dictionary.size() & 0xFF);
  bytes[kMagic.size() + 1] = static_cast<std::byte>(dictionary.size() >> 8);
  std::memcpy(bytes.data() + kPreambleBytes, dictionary.data(), dictionary.size());
  return bytes;
}

namespace {

// The message of an error status says only what was found.
absl::StatusOr<NpyLayout> ParseHeader(std::span<const std::byte> bytes, bool any_length) {
  const auto fail = [](std::string_view found) { return CorruptError(std::string(found)); };
  if (bytes.size() < (any_length ? kPreambleBytes : kNpyHeaderBytes)) {
    return fail(fmt::format("{} bytes of header", bytes.size()));
  }
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()), kMagic.size());
    return fail(fmt::format("first bytes \"{}\"", Escape(head)));
  }
  const std::size_t length =
      static_cast<std::size_t>(bytes[kMagic.size()]) | (static_cast<std::size_t>(bytes[kMagic.size() + 1]) << 8);
  if (any_length ? length + kPreambleBytes > bytes.size() : length + kPreambleBytes != kNpyHeaderBytes) {
    return fail(fmt::format("header length {}", length + kPreambleBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kPreambleBytes, length);
  DictionaryParser parser(text);
  NpyShape shape;
  const auto element = [&] {
    if (parser.Literal("'<f4'")) return true;
    shape.element = NpyElement::kBfloat16;
    return parser.Literal("'<u2'");
  };
  const bool well_formed = parser.Literal("{") && parser.Literal("'descr':") && element() && parser.Literal(",") &&
                           parser.Literal("'fortran_order':") && parser.Literal("False") && parser.Literal(",") &&
                           parser.ShapeAndEnd(shape.rows, shape.columns);
  if (!well_formed)
    return fail(fmt::format("header \"{}\"", Escape(text.substr(0, text.find_last_not_of(" \n") + 1), 120)));
  if (absl::StatusOr<std::uint64_t> size = NpyFileBytes(shape); !size.ok()) {
    return fail(fmt::format("shape ({}, {}), which overflows", shape.rows, shape.columns));
  }
  return NpyLayout{.shape = shape, .data_offset = length + kPreambleBytes};
}

}  // namespace

absl::StatusOr<NpyShape> DecodeNpyHeader(std::span<const std::byte> bytes, std::string_view file_name) {
  const absl::StatusOr<NpyLayout> layout = ParseHeader(bytes, /*any_length=*/false);
  if (layout.ok()) return layout->shape;
  return CorruptError(fmt::format(
      "{}: {}; expected a .npy file, format 1.0, with a {}-byte header, '<f4' or '<u2', C order and two dimensions",
      file_name, MessageOf(layout.status()), kNpyHeaderBytes));
}

absl::StatusOr<NpyLayout> DecodeForeignNpyHeader(std::span<const std::byte> bytes, std::string_view file_name) {
  absl::StatusOr<NpyLayout> layout = ParseHeader(bytes, /*any_length=*/true);
  if (layout.ok()) return layout;
  return InputError(
      fmt::format("{}: {}; expected a .npy file, format 1.0, '<f4' (or '<u2' for bf16), C order and two dimensions",
                  file_name, MessageOf(layout.status())));
}

absl::StatusOr<std::size_t> NpyHeaderLength(std::string_view preamble, std::string_view file_name) {
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(preamble[i])); };
  const bool whole = preamble.size() >= kNpyPreambleBytes && preamble.starts_with(kNpyMagic);
  if (!whole || at(6) < 1 || at(6) > 3 || at(7) != 0) {
    return InputError(fmt::format("{}: found the first bytes \"{}\", expected those of a .npy file, format 1.0 to 3.0",
                                  file_name, Escape(preamble.substr(0, 8))));
  }
  std::size_t length = kPreambleBytes + at(8) + (at(9) << 8);
  if (at(6) > 1) length += 2 + (at(10) << 16) + (at(11) << 24);
  if (length >= kNpyPreambleBytes && length <= kMaxHeaderBytes) return length;
  return InputError(fmt::format("{}: found a header of {} bytes, expected {} to {}", file_name, length,
                                kNpyPreambleBytes, kMaxHeaderBytes));
}

absl::StatusOr<NpyIntegers> DecodeNpyIntegers(std::string_view header, std::string_view file_name) {
  const std::string_view text = header.substr(header[6] == 1 ? kPreambleBytes : kNpyPreambleBytes);
  DictionaryParser parser(text);
  NpyIntegers array;
  const auto type = [&] {
    for (const auto& [name, bytes, is_signed] :
         {std::tuple("'<i8'", 8, true), {"'<i4'", 4, true}, {"'<u8'", 8, false}, {"'<u4'", 4, false}}) {
      array.value_bytes = static_cast<std::size_t>(bytes);
      array.is_signed = is_signed;
      if (parser.Literal(name)) return true;
    }
    return false;
  };
  const bool well_formed = parser.Literal("{") && parser.Literal("'descr':") && type() && parser.Literal(",") &&
                           parser.Literal("'fortran_order':") && parser.Literal("False") && parser.Literal(",") &&
                           parser.ShapeAndEnd(array.rows, array.columns);
  const auto values = CheckedMultiply(array.rows, array.columns);
  if (well_formed && values && CheckedMultiply(*values, array.value_bytes)) return array;
  const bool floats = text.find("'descr': '<f") != std::string_view::npos;
  return InputError(
      fmt::format("{}: found the header \"{}\", expected int32, int64, uint32 or uint64 (little-endian{}), C order "
                  "(numpy.ascontiguousarray makes it) and two dimensions",
                  file_name, Escape(text.substr(0, text.find_last_not_of(" \n") + 1), 120),
                  floats ? ", as from array.astype(numpy.int64)" : ""));
}

absl::StatusOr<std::uint64_t> NpyFileBytes(const NpyShape& shape) {
  const auto elements = CheckedMultiply(shape.rows, shape.columns);
  const auto data = elements ? CheckedMultiply(*elements, ElementBytes(shape.element)) : std::nullopt;
  const auto total = data ? CheckedAdd(*data, kNpyHeaderBytes) : std::nullopt;
  if (!total || *total > static_cast<std::uint64_t>(INT64_MAX)) {
    return UsageError(fmt::format("a table of {} x {} values is too large for a file", shape.rows, shape.columns));
  }
  return *total;
}

}  // namespace octavo
