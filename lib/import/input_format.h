// What an edge list is made of: its format, and what each field of a line means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

// kBlank: fields between runs of spaces and tabs. kCsv: RFC 4180, but a record is one line. kNtriples, kNquads: W3C
// recommendations of 2014 (statement_reader.h). kMatrixMarket: a coordinate file (matrix_market.h). kNpy, the one that
// is no text: a NumPy array of indexes (index_rows.h).
enum class InputFormat { kTsv, kCsv, kBlank, kNtriples, kNquads, kMatrixMarket, kNpy };

// What --format calls it: "tsv", "csv", "blank", "ntriples", "nquads", "mtx" or "npy".
std::string_view InputFormatName(InputFormat format);
std::optional<InputFormat> ParseInputFormat(std::string_view name);
// What people call it: "N-Triples".
std::string_view InputFormatTitle(InputFormat format);

constexpr bool IsTriples(InputFormat format) {
  return format == InputFormat::kNtriples || format == InputFormat::kNquads;
}

// The first data line of a file that looks like the titles of its columns (title_line.h).
struct TitleLine {
  std::uint64_t line = 0;  // from 1
  std::string text;

  friend bool operator==(const TitleLine&, const TitleLine&) = default;
};

// The format in which a file is read, and why.
struct FileFormat {
  InputFormat format = InputFormat::kBlank;
  enum class Reason { kFlag, kExtension, kContent } reason = Reason::kContent;
  // What its first lines look like where that is another format; never kBlank, which anything looks like.
  std::optional<InputFormat> looks_like;
  std::optional<TitleLine> titles = {};  // which are taken for an edge

  friend bool operator==(const FileFormat&, const FileFormat&) = default;
};

// "N-Triples (by extension)", and "..., but looks like ..." where it does.
std::string FileFormatText(const FileFormat& format);

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

class NameList;

// Of a NumPy array of integers.
struct IndexLayout {
  std::size_t value_bytes = 8;  // 4 or 8, little-endian
  bool is_signed = true;
  // Of the indexes; null: numbers are the names. Borrowed for as long as the import reads.
  const NameList* nodes = nullptr;
  const NameList* relations = nullptr;
};

// How a chunk of an input is parsed.
struct LineLayout {
  InputFormat format = InputFormat::kTsv;
  Columns columns;
  bool keep_literals = false;     // of triples
  std::size_t header_lines = 0;   // at the head of the chunk
  std::uint64_t matrix_rows = 0;  // indexes go from 1 to here
  bool both_directions = false;   // a symmetric matrix: each line stands for the other direction, too
  IndexLayout indexes{};
  bool of_base = false;  // no text: records of the edges of a graph (base_edges.h), whatever the format
};

// Returns the format that the extension of `path` promises, .gz and .zst taken off: .tsv, .csv, .nt, .nq, .mtx or .npy.
std::optional<InputFormat> FormatOfExtension(std::string_view path);

// Returns the format that the beginning of a file looks like: a banner means Matrix Market and NumPy's magic an array.
// Else the first data lines tell: a statement in the first means N-Quads if one of them has a graph, or N-Triples;
// tabs mean TSV; the same number (2 to 4) of comma-separated fields in each means CSV; anything else is separated by
// blanks. Empty where there is no data line.
std::optional<InputFormat> GuessFormat(std::string_view text);

// Returns DefaultColumns for the first data line of `text` that has 2 to 4 fields; Columns{} if there is none.
// REQUIRES: a format whose lines are fields: tsv, csv or blank
Columns GuessColumns(std::string_view text, InputFormat format);

// A line that holds no edge: blank, or a comment that begins with # or %. `line` is without its line end.
enum class LineKind { kData, kBlank, kComment };
LineKind KindOfLine(std::string_view line);

// Returns the line at the head of `text` without its line end (\n or \r\n) and removes it from `text`.
// REQUIRES: !text.empty()
std::string_view TakeLine(std::string_view& text);

}  // namespace octavo
