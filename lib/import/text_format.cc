#include "import/text_format.h"

#include <array>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "import/field_splitter.h"

namespace octavo {
namespace {

// How many data lines GuessFormat looks at.
constexpr int kGuessLines = 20;

constexpr std::array<std::pair<std::string_view, int Columns::*>, 4> kNames = {{{"head", &Columns::head},
                                                                                {"relation", &Columns::relation},
                                                                                {"tail", &Columns::tail},
                                                                                {"weight", &Columns::weight}}};

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

std::string_view TextFormatName(TextFormat format) {
  switch (format) {
    case TextFormat::kTsv:
      return "tsv";
    case TextFormat::kCsv:
      return "csv";
    case TextFormat::kBlank:
      return "blank";
  }
  return "";
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

std::optional<TextFormat> FormatOfExtension(std::string_view path) {
  for (const std::string_view compression : {".gz", ".zst"}) {
    if (path.ends_with(compression)) path.remove_suffix(compression.size());
  }
  if (path.ends_with(".tsv")) return TextFormat::kTsv;
  if (path.ends_with(".csv")) return TextFormat::kCsv;
  return std::nullopt;
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

std::optional<TextFormat> GuessFormat(std::string_view text) {
  Fields fields;
  std::deque<std::string> unescaped;
  std::size_t csv_fields = 0;
  int seen = 0;
  while (seen < kGuessLines && !text.empty()) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    if (line.find('\t') != std::string_view::npos) return TextFormat::kTsv;
    SplitFields(line, TextFormat::kCsv, fields, unescaped);
    const bool fits = fields.complaint.empty() && fields.count >= 2 && fields.count <= 4;
    if (!fits || (seen > 0 && fields.count != csv_fields)) return TextFormat::kBlank;
    csv_fields = fields.count;
    ++seen;
  }
  if (seen == 0) return std::nullopt;
  return TextFormat::kCsv;
}

Columns GuessColumns(std::string_view text, TextFormat format) {
  Fields fields;
  std::deque<std::string> unescaped;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    SplitFields(line, format, fields, unescaped);
    const Columns columns = DefaultColumns(fields.count);
    if (fields.complaint.empty() && columns.count > 0) return columns;
  }
  return {};
}

}  // namespace octavo
