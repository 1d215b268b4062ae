#include "export/vector_formats.h"

#include <array>
#include <bit>
#include <cstddef>
#include <iterator>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/compile.h"
#include "fmt/format.h"
#include "format/npy_header.h"

namespace octavo {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

constexpr std::array<VectorFormat, 4> kFormats = {VectorFormat::kNpy, VectorFormat::kWord2Vec,
                                                  VectorFormat::kWord2VecBinary, VectorFormat::kTsv};
constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// Returns the length of the well-formed UTF-8 sequence at the head of `text`, or 0 (Unicode 15, table 3-7).
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned lower = 0x80;
  unsigned upper = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) lower = 0xA0;
    if (first == 0xED) upper = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) lower = 0x90;
    if (first == 0xF4) upper = 0x8F;
  }
  if (length == 0 || text.size() < length || byte(1) < lower || byte(1) > upper) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

bool AppendWord(std::string_view name, std::string& out) {
  bool changed = name.empty();
  if (name.empty()) out += '_';
  while (!name.empty()) {
    const char c = name.front();
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      out += '_';
      changed = true;
      name.remove_prefix(1);
    } else if (const std::size_t length = Utf8Length(name); length > 0) {
      out += name.substr(0, length);
      name.remove_prefix(length);
    } else {
      out += kReplacementCharacter;
      changed = true;
      name.remove_prefix(1);
    }
  }
  return changed;
}

bool AppendField(std::string_view name, std::string& out) {
  bool changed = false;
  for (const char c : name) {
    const bool delimiter = c == '\t' || c == '\n' || c == '\r';
    out += delimiter ? '_' : c;
    changed = changed || delimiter;
  }
  return changed;
}

void AppendBytes(std::span<const float> values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

void AppendDecimals(char separator, std::span<const float> values, std::string& out) {
  for (const float value : values) {
    out += separator;
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
  }
  out += '\n';
}

}  // namespace

std::string_view VectorFormatName(VectorFormat format) {
  switch (format) {
    case VectorFormat::kNpy:
      return "npy";
    case VectorFormat::kWord2Vec:
      return "word2vec";
    case VectorFormat::kWord2VecBinary:
      return "word2vec-binary";
    case VectorFormat::kTsv:
      return "tsv";
  }
  return "";
}

absl::StatusOr<VectorFormat> ParseVectorFormat(std::string_view name) {
  for (const VectorFormat format : kFormats) {
    if (VectorFormatName(format) == name) return format;
  }
  return UsageError(fmt::format("unknown format \"{}\"; expected npy, word2vec, word2vec-binary or tsv", Escape(name)));
}

std::string VectorHeader(VectorFormat format, std::uint64_t rows, std::size_t columns) {
  switch (format) {
    case VectorFormat::kNpy: {
      const auto header = EncodeNpyHeader({rows, columns});
      return {reinterpret_cast<const char*>(header.data()), header.size()};
    }
    case VectorFormat::kWord2Vec:
    case VectorFormat::kWord2VecBinary:
      return fmt::format("{} {}\n", rows, columns);
    case VectorFormat::kTsv:
      return "";
  }
  return "";
}

bool AppendName(VectorFormat format, std::string_view name, std::string& out) {
  switch (format) {
    case VectorFormat::kNpy:
      return false;
    case VectorFormat::kWord2Vec:
    case VectorFormat::kWord2VecBinary:
      return AppendWord(name, out);
    case VectorFormat::kTsv:
      return AppendField(name, out);
  }
  return false;
}

bool AppendVector(VectorFormat format, std::string_view name, std::span<const float> values, std::string& out) {
  const bool changed = AppendName(format, name, out);
  switch (format) {
    case VectorFormat::kNpy:
      AppendBytes(values, out);
      break;
    case VectorFormat::kWord2Vec:
      AppendDecimals(' ', values, out);
      break;
    case VectorFormat::kWord2VecBinary:
      out += ' ';
      AppendBytes(values, out);
      out += '\n';
      break;
    case VectorFormat::kTsv:
      AppendDecimals('\t', values, out);
      break;
  }
  return changed;
}

}  // namespace octavo
