#include "format/npy_header.h"

#include <charconv>
#include <cstring>
#include <string>

#include "base/checked_math.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Magic "\x93NUMPY", major 1, minor 0, then the length of the dictionary as u16.
constexpr std::array<unsigned char, 8> kMagic = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
constexpr std::size_t kPreambleBytes = kMagic.size() + 2;

// Walks over the dictionary as NumPy writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
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
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                       NpyTypeOf(shape.element), shape.rows, shape.columns);
  dictionary.resize(kNpyHeaderBytes - kPreambleBytes - 1, ' ');
  dictionary += '\n';
  std::array<std::byte, kNpyHeaderBytes> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[kMagic.size()] = static_cast<std::byte>(dictionary.size() & 0xFF);
  bytes[kMagic.size() + 1] = static_cast<std::byte>(dictionary.size() >> 8);
  std::memcpy(bytes.data() + kPreambleBytes, dictionary.data(), dictionary.size());
  return bytes;
}

absl::StatusOr<NpyShape> DecodeNpyHeader(std::span<const std::byte> bytes, std::string_view file_name) {
  const auto fail = [&](std::string_view found) {
    return CorruptError(fmt::format(
        "{}: {}; expected a .npy file, format 1.0, with a {}-byte header, '<f4' or '<u2', C order and two dimensions",
        file_name, found, kNpyHeaderBytes));
  };
  if (bytes.size() < kNpyHeaderBytes) return fail(fmt::format("{} bytes of header", bytes.size()));
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()), kMagic.size());
    return fail(fmt::format("first bytes \"{}\"", Escape(head)));
  }
  const std::size_t length =
      static_cast<std::size_t>(bytes[kMagic.size()]) | (static_cast<std::size_t>(bytes[kMagic.size() + 1]) << 8);
  if (length + kPreambleBytes != kNpyHeaderBytes) return fail(fmt::format("header length {}", length + kPreambleBytes));
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
                           parser.Literal("'shape':") && parser.Literal("(") && parser.Number(shape.rows) &&
                           parser.Literal(",") && parser.Number(shape.columns) && (parser.Literal(",") || true) &&
                           parser.Literal(")") && (parser.Literal(",") || true) && parser.Literal("}") &&
                           parser.AtEnd();
  if (!well_formed)
    return fail(fmt::format("header \"{}\"", Escape(text.substr(0, text.find_last_not_of(" \n") + 1), 120)));
  if (absl::StatusOr<std::uint64_t> size = NpyFileBytes(shape); !size.ok()) {
    return fail(fmt::format("shape ({}, {}), which overflows", shape.rows, shape.columns));
  }
  return shape;
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
