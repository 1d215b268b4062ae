// What a line of an edge list is made of: how its fields are separated and what each field means.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

// Formats of a line. kBlank: fields between runs of spaces and tabs. kCsv: RFC 4180, but a record is one line.
enum class TextFormat { kTsv, kCsv, kBlank };

// "tsv", "csv" or "blank".
std::string_view TextFormatName(TextFormat format);

// Which field of a line is what, counted from 0; -1 for none.
struct Columns {
  int head = -1;
  int relation = -1;
  int tail = -1;
  int weight = -1;
  std::size_t count = 0;  // of all fields, skipped ones too; 0: not known

  friend bool operator==(const Columns&, const Columns&) = default;
};

inline constexpr std::size_t kMaxColumns = 64;

// Parses "head,relation,tail,weight" and the like: names in any order, each at most once, head and tail at least, "-"
// for a field to skip. Anything else is a usage error.
absl::StatusOr<Columns> ParseColumns(std::string_view text);

// The inverse of ParseColumns.
std::string ColumnsText(const Columns& columns);

// The meaning of lines of `count` fields where the user gave none: head,tail; head,relation,tail;
// head,relation,tail,weight. Columns{} for other counts.
Columns DefaultColumns(std::size_t count);

struct LineLayout {
  TextFormat format = TextFormat::kTsv;
  Columns columns;
};

// Returns the format that the extension of `path` promises, .gz and .zst taken off: .tsv or .csv.
std::optional<TextFormat> FormatOfExtension(std::string_view path);

// Returns the format that the first data lines of `text` look like: tabs mean TSV; the same number (2 to 4) of
// comma-separated fields in each means CSV; anything else is separated by blanks. Empty where there is no data line.
std::optional<TextFormat> GuessFormat(std::string_view text);

// Returns DefaultColumns for the first data line of `text` that has 2 to 4 fields; Columns{} if there is none.
Columns GuessColumns(std::string_view text, TextFormat format);

// A line that holds no edge: blank, or a comment that begins with # or %. `line` is without its line end.
enum class LineKind { kData, kBlank, kComment };
LineKind KindOfLine(std::string_view line);

// Returns the line at the head of `text` without its line end (\n or \r\n) and removes it from `text`.
// REQUIRES: !text.empty()
std::string_view TakeLine(std::string_view& text);

}  // namespace octavo
