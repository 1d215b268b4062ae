#include "parse/input_format.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::array<std::pair<std::string_view, int Columns::*>, 4> kNames = {{{"head", &Columns::head},
                                                                                {"relation", &Columns::relation},
                                                                                {"tail", &Columns::tail},
                                                                                {"weight", &Columns::weight}}};

struct FormatEntry {
  InputFormat format;
  std::string_view name;
  std::string_view title;
  std::string_view extension;  // empty for none
};
constexpr std::array<FormatEntry, 7> kFormats = {{{InputFormat::kTsv, "tsv", "tab-separated text", ".tsv"},
                                                  {InputFormat::kCsv, "csv", "comma-separated text", ".csv"},
                                                  {InputFormat::kBlank, "blank", "blank-separated text", ""},
                                                  {InputFormat::kNtriples, "ntriples", "N-Triples", ".nt"},
                                                  {InputFormat::kNquads, "nquads", "N-Quads", ".nq"},
                                                  {InputFormat::kMatrixMarket, "mtx", "Matrix Market", ".mtx"},
                                                  {InputFormat::kNpy, "npy", "a NumPy array", ".npy"}}};

const FormatEntry& FormatEntryOf(InputFormat format) {
  return *std::ranges::find(kFormats, format, &FormatEntry::format);
}

bool SetColumn(Columns& columns, std::string_view name, int position) {
  for (const auto& [known, member] : kNames) {
    if (known != name) continue;
    if (columns.*member >= 0) return false;
    columns.*member = position;
    return true;
  }
  return name == "-";
}

}  // namespace

std::string_view InputFormatName(InputFormat format) { return FormatEntryOf(format).name; }

std::optional<InputFormat> ParseInputFormat(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &FormatEntry::name);
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

std::string_view InputFormatTitle(InputFormat format) { return FormatEntryOf(format).title; }

std::string FileFormatText(const FileFormat& format) {
  std::string text(InputFormatTitle(format.format));
  if (format.format == InputFormat::kCsv && format.separator != ',') {
    text = format.separator == ';' ? "semicolon-separated text"
                                   : fmt::format("text separated by \"{}\"", Escape({&format.separator, 1}));
  }
  if (format.reason == FileFormat::Reason::kFlag) text += " (by --format)";
  if (format.reason == FileFormat::Reason::kExtension) text += " (by extension)";
  if (format.reason == FileFormat::Reason::kContent) text += " (by its first lines)";
  if (!format.looks_like) return text;
  return text + fmt::format(", but looks like {}; --format {} reads that", InputFormatTitle(*format.looks_like),
                            InputFormatName(*format.looks_like));
}

absl::StatusOr<Columns> ParseColumns(std::string_view text) {
  Columns columns;
  const auto refuse = [&] {
    return UsageError(
        fmt::format("--columns: found \"{}\"; expected a list such as head,relation,tail,weight: head and tail, each "
                    "name at most once, - for a column to skip, at most {} columns",
                    Escape(text), kMaxColumns));
  };
  std::string_view rest = text;
  while (true) {
    const std::string_view name = rest.substr(0, rest.find(','));
    if (columns.count == kMaxColumns || !SetColumn(columns, name, static_cast<int>(columns.count))) return refuse();
    ++columns.count;
    if (name.size() == rest.size()) break;
    rest.remove_prefix(name.size() + 1);
  }
  if (columns.head < 0 || columns.tail < 0) return refuse();
  return columns;
}

std::string ColumnsText(const Columns& columns) {
  std::string text;
  for (int position = 0; position < static_cast<int>(columns.count); ++position) {
    std::string_view name = "-";
    for (const auto& [known, member] : kNames) {
      if (columns.*member == position) name = known;
    }
    text += text.empty() ? "" : ",";
    text += name;
  }
  return text;
}

Columns DefaultColumns(std::size_t count) {
  if (count == 2) return {.head = 0, .tail = 1, .count = count};
  if (count == 3) return {.head = 0, .relation = 1, .tail = 2, .count = count};
  if (count == 4) return {.head = 0, .relation = 1, .tail = 2, .weight = 3, .count = count};
  return {};
}

std::optional<InputFormat> FormatOfExtension(std::string_view path) {
  for (const std::string_view compression : {".gz", ".zst"}) {
    if (path.ends_with(compression)) path.remove_suffix(compression.size());
  }
  const auto* const found = std::ranges::find_if(
      kFormats, [&](const FormatEntry& entry) { return !entry.extension.empty() && path.ends_with(entry.extension); });
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

LineKind KindOfLine(std::string_view line) {
  if (line.empty()) return LineKind::kBlank;
  if (line.front() == '#' || line.front() == '%') return LineKind::kComment;
  if (line.front() != ' ' && line.front() != '\t') return LineKind::kData;
  return line.find_first_not_of(" \t") == std::string_view::npos ? LineKind::kBlank : LineKind::kData;
}

std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace octavo
