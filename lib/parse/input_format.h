// The format of an edge list, and the meaning of each field of a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

// kBlank: fields separated by spaces and tabs. kCsv: RFC 4180, but a record is one line. kNtriples, kNquads: W3C
// recommendations of 2014 (statement_reader.h). kMatrixMarket: a coordinate file (matrix_market.h). kNpy: a NumPy array
// of indexes (index_rows.h), the only binary format.
enum class InputFormat { kTsv, kCsv, kBlank, kNtriples, kNquads, kMatrixMarket, kNpy };

// The name for --format: "tsv", "csv", "blank", "ntriples", "nquads", "mtx" or "npy".
std::string_view InputFormatName(InputFormat format);
std::optional<InputFormat> ParseInputFormat(std::string_view name);
// The name for people: "N-Triples".
std::string_view InputFormatTitle(InputFormat format);

constexpr bool IsTriples(InputFormat format) {
  return format == InputFormat::kNtriples || format == InputFormat::kNquads;
}

// Whether its lines have columns that can be chosen.
constexpr bool HasFields(InputFormat format) {
  return format == InputFormat::kTsv || format == InputFormat::kCsv || format == InputFormat::kBlank;
}

// The first data line of a file that looks like the titles of its columns (header_line.h).
struct HeaderLine {
  std::uint64_t line = 0;  // from 1
  std::string text;

  friend bool operator==(const HeaderLine&, const HeaderLine&) = default;
};

// The format in which a file is read, and the reason.
struct FileFormat {
  InputFormat format = InputFormat::kBlank;
  enum class Reason { kFlag, kExtension, kContent } reason = Reason::kContent;
  // The format that its first lines look like, if it is another one; never kBlank, which fits any text.
  std::optional<InputFormat> looks_like;
  std::optional<HeaderLine> titles = {};  // column titles that are read as an edge
  char separator = ',';                   // of csv
  std::size_t numeric_tails = 0;          // columns of which the third, read as tails, looks like weights; or 0
  bool timed_weights = false;             // whether the fourth, read as weights, looks like times
  bool blank_names = false;               // of csv: whether blanks after separators are parts of names

  friend bool operator==(const FileFormat&, const FileFormat&) = default;
};

// "N-Triples (by extension)", with "..., but looks like ..." if that applies.
std::string FileFormatText(const FileFormat& format);

// The field number of each column, counted from 0; -1 for none.
struct Columns {
  int head = -1;
  int relation = -1;
  int tail = -1;
  int weight = -1;
  std::size_t count = 0;  // number of fields, including skipped ones; 0: not known

  friend bool operator==(const Columns&, const Columns&) = default;
};

inline constexpr std::size_t kMaxColumns = 64;

// Parses e.g. "head,relation,tail,weight": names in any order, each at most once, at least head and tail, "-" for a
// field to skip. Anything else is a usage error.
absl::StatusOr<Columns> ParseColumns(std::string_view text);

// The inverse of ParseColumns.
std::string ColumnsText(const Columns& columns);

// The columns of lines with `count` fields if the user gave none: head,tail; head,relation,tail;
// head,relation,tail,weight. Columns{} for other counts.
Columns DefaultColumns(std::size_t count);

class NameList;

// For a NumPy array of integers.
struct IndexLayout {
  std::size_t value_bytes = 8;  // 4 or 8, little-endian
  bool is_signed = true;
  // Names for the indexes; null: the numbers are the names. Referenced as long as the import reads.
  const NameList* nodes = nullptr;
  const NameList* relations = nullptr;
};

// Which triples give labels: texts for people, which are no edges.
struct LabelChoice {
  std::string predicate;  // an IRI without < >
  std::string language;   // the only tag that the literal may have, in any letter case; empty: any
};

// How to parse a chunk of an input.
struct LineLayout {
  InputFormat format = InputFormat::kTsv;
  Columns columns;
  char separator = ',';        // of csv; with any other, weights of csv may have a decimal comma
  bool keep_literals = false;  // for triples
  // For triples: those whose object is a literal and whose predicate is this one are labels. Null: none. Referenced as
  // long as the import reads.
  const LabelChoice* labels = nullptr;
  std::size_t header_lines = 0;   // at the head of the chunk
  std::uint64_t matrix_rows = 0;  // indexes range from 1 to this
  bool both_directions = false;   // a symmetric matrix: each line also stands for the opposite direction
  IndexLayout indexes{};
  bool of_base = false;  // not text: records of the edges of a graph (base_edges.h), whatever the format
};

// Returns the format for the extension of `path`, ignoring .gz and .zst: .tsv, .csv, .nt, .nq, .mtx or .npy.
std::optional<InputFormat> FormatOfExtension(std::string_view path);

// The kind of a line, given without its line end. A comment begins with # or %.
enum class LineKind { kData, kBlank, kComment };
LineKind KindOfLine(std::string_view line);

// Removes the first line from `text` and returns it without its line end (\n or \r\n). REQUIRES: !text.empty()
std::string_view TakeLine(std::string_view& text);

}  // namespace octavo
