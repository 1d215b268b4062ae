#include "export/vector_formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>

#include "base/escape.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "export/hdf5_head.h"
#include "fmt/compile.h"
#include "fmt/format.h"
#include "format/npy_header.h"

namespace octavo {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written in memory order");

struct FormatTraits {
  VectorFormat format;
  std::string_view name;
  bool text;
  bool names;
};

constexpr std::array<FormatTraits, 9> kFormats = {{{VectorFormat::kNpy, "npy", false, false},
                                                   {VectorFormat::kWord2Vec, "word2vec", true, true},
                                                   {VectorFormat::kWord2VecBinary, "word2vec-binary", false, true},
                                                   {VectorFormat::kTsv, "tsv", true, true},
                                                   {VectorFormat::kCsv, "csv", true, true},
                                                   {VectorFormat::kProjector, "projector", true, false},
                                                   {VectorFormat::kJsonLines, "jsonl", true, true},
                                                   {VectorFormat::kHdf5, "hdf5", false, false},
                                                   {VectorFormat::kSafetensors, "safetensors", false, false}}};

const FormatTraits& TraitsOf(VectorFormat format) { return kFormats[static_cast<std::size_t>(format)]; }

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

// Removes the next character from `text` and appends it to `out`; U+FFFD if its first byte is invalid. Returns whether
// it was valid.
bool TakeCharacter(std::string_view& text, std::string& out) {
  const std::size_t length = Utf8Length(text);
  out += length > 0 ? text.substr(0, length) : kReplacementCharacter;
  text.remove_prefix(std::max<std::size_t>(1, length));
  return length > 0;
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
    } else {
      changed = !TakeCharacter(name, out) || changed;
    }
  }
  return changed;
}

// Appends a JSON string (RFC 8259), with what terminals take for commands escaped.
bool AppendJson(std::string_view name, std::string& out) {
  const std::size_t begin = out.size();
  bool changed = false;
  out += '"';
  while (!name.empty()) {
    const char c = name.front();
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), FMT_COMPILE("\\u{:04x}"), static_cast<unsigned char>(c));
      name.remove_prefix(1);
    } else {
      changed = !TakeCharacter(name, out) || changed;
    }
  }
  out += '"';
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) < 0x7F; };
  if (!std::all_of(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), is_plain)) {
    out.replace(begin, std::string::npos, EscapeJsonControls(out.substr(begin)));
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

// Appends a quoted field (RFC 4180). Readers differ in what they take for a number or a blank without quotes.
void AppendQuoted(std::string_view name, std::string& out) {
  out += '"';
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string CsvTitles(std::size_t columns, bool labels) {
  std::string titles = labels ? "\"name\",\"label\"" : "\"name\"";
  for (std::size_t i = 1; i <= columns; ++i) fmt::format_to(std::back_inserter(titles), FMT_COMPILE(",v{}"), i);
  return titles + "\n";
}

// The header is padded, so that the rows are aligned to 8 bytes, as the format recommends.
std::string SafetensorsHead(std::uint64_t rows, std::size_t columns) {
  std::string json = fmt::format(R"({{"embeddings":{{"dtype":"F32","shape":[{},{}],"data_offsets":[0,{}]}}}})", rows,
                                 columns, rows * columns * sizeof(float));
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + json;
}

void AppendBytes(std::span<const float> values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

// Appends values separated by `separator`.
void AppendDecimals(char separator, std::span<const float> values, std::string& out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += separator;
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), values[i]);
  }
}

}  // namespace

std::string_view VectorFormatName(VectorFormat format) { return TraitsOf(format).name; }
bool IsText(VectorFormat format) { return TraitsOf(format).text; }
bool HoldsNames(VectorFormat format) { return TraitsOf(format).names; }

absl::StatusOr<VectorFormat> FormatOfEnding(const std::filesystem::path& path) {
  struct Ending {
    std::string_view text;
    VectorFormat format;
  };
  constexpr Ending kEndings[] = {{".npy", VectorFormat::kNpy},         {".tsv", VectorFormat::kTsv},
                                 {".csv", VectorFormat::kCsv},         {".safetensors", VectorFormat::kSafetensors},
                                 {".jsonl", VectorFormat::kJsonLines}, {".h5", VectorFormat::kHdf5},
                                 {".hdf5", VectorFormat::kHdf5},       {".txt", VectorFormat::kWord2Vec},
                                 {".vec", VectorFormat::kWord2Vec},    {".bin", VectorFormat::kWord2VecBinary}};
  std::filesystem::path name = path.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  const std::string ending = name.extension().string();
  for (const Ending& known : kEndings) {
    if (known.text == ending) return known.format;
  }
  if (ending.empty()) return VectorFormat::kNpy;
  std::vector<std::string_view> endings;
  for (const Ending& known : kEndings) endings.push_back(known.text);
  return UsageError(fmt::format("no format has the ending \"{}\"; expected {}, or --format with {}", Escape(ending),
                                fmt::join(endings, ", "), fmt::join(VectorFormatNames(), ", ")));
}

std::vector<std::string> VectorFormatNames() {
  std::vector<std::string> names;
  for (const FormatTraits& traits : kFormats) names.emplace_back(traits.name);
  return names;
}

absl::StatusOr<VectorFormat> ParseVectorFormat(std::string_view name) {
  for (const FormatTraits& traits : kFormats) {
    if (traits.name == name) return traits.format;
  }
  return UsageError(
      fmt::format("unknown format \"{}\"; expected {}", Escape(name), fmt::join(VectorFormatNames(), ", ")));
}

absl::StatusOr<std::string> VectorHeader(VectorFormat format, VectorElement element, std::uint64_t rows,
                                         std::size_t columns, bool labels) {
  switch (format) {
    case VectorFormat::kNpy: {
      const auto header = EncodeNpyHeader(NpyTypeOf(element), rows, columns);
      return std::string(reinterpret_cast<const char*>(header.data()), header.size());
    }
    case VectorFormat::kWord2Vec:
    case VectorFormat::kWord2VecBinary:
      return fmt::format("{} {}\n", rows, columns);
    case VectorFormat::kTsv:
    case VectorFormat::kProjector:
    case VectorFormat::kJsonLines:
      return "";
    case VectorFormat::kCsv:
      return CsvTitles(columns, labels);
    case VectorFormat::kSafetensors:
      return SafetensorsHead(rows, columns);
    case VectorFormat::kHdf5:
      return MakeHdf5Head(rows, columns);
  }
  return "";
}

bool AppendName(VectorFormat format, std::string_view name, std::string& out) {
  switch (format) {
    case VectorFormat::kNpy:
    case VectorFormat::kSafetensors:
      break;
    case VectorFormat::kCsv:
      AppendQuoted(name, out);
      return false;
    case VectorFormat::kWord2Vec:
    case VectorFormat::kWord2VecBinary:
      return AppendWord(name, out);
    case VectorFormat::kTsv:
    case VectorFormat::kProjector:
      return AppendField(name, out);
    case VectorFormat::kJsonLines:
    case VectorFormat::kHdf5:
      return AppendJson(name, out);
  }
  return false;
}

bool AppendVector(VectorFormat format, std::string_view name, std::span<const float> values, std::string& out,
                  std::optional<std::string_view> label) {
  if (format == VectorFormat::kJsonLines) out += "{\"name\":";
  const bool changed = HoldsNames(format) && AppendName(format, name, out);
  if (label && format == VectorFormat::kCsv) {
    out += ',';
    AppendQuoted(*label, out);
  } else if (label && format == VectorFormat::kJsonLines) {
    out += ",\"label\":";
    if (label->empty()) {
      out += "null";
    } else {
      AppendJson(*label, out);
    }
  }
  switch (format) {
    case VectorFormat::kNpy:
    case VectorFormat::kHdf5:
    case VectorFormat::kSafetensors:
      AppendBytes(values, out);
      return changed;
    case VectorFormat::kWord2VecBinary:
      out += ' ';
      AppendBytes(values, out);
      break;
    case VectorFormat::kWord2Vec:
      out += ' ';
      AppendDecimals(' ', values, out);
      break;
    case VectorFormat::kTsv:
      out += '\t';
      AppendDecimals('\t', values, out);
      break;
    case VectorFormat::kCsv:
      out += ',';
      AppendDecimals(',', values, out);
      break;
    case VectorFormat::kProjector:
      AppendDecimals('\t', values, out);
      break;
    case VectorFormat::kJsonLines:
      out += ",\"vector\":[";
      AppendDecimals(',', values, out);
      out += "]}";
      break;
  }
  out += '\n';
  return changed;
}

}  // namespace octavo
