#include "parse/format_guess.h"

#include <cstddef>
#include <deque>
#include <string>

#include "format/npy_header.h"
#include "parse/field_splitter.h"
#include "parse/matrix_market.h"
#include "parse/parsed_chunk.h"
#include "parse/statement_reader.h"

namespace octavo {
namespace {

// How many data lines GuessFormat reads.
constexpr int kGuessLines = 20;

// How many fields each of the first lines has; 0 if they differ or are malformed.
std::size_t FieldsOfEach(std::string_view text, InputFormat format, char separator) {
  Fields fields;
  std::deque<std::string> unescaped;
  std::size_t count = 0;
  for (int seen = 0; seen < kGuessLines && !text.empty();) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    SplitFields(line, format, fields, unescaped, separator);
    if (!fields.complaint.empty() || fields.count > kMaxColumns || (seen > 0 && fields.count != count)) return 0;
    count = fields.count;
    ++seen;
  }
  return count;
}

bool AreBlankSeparated(std::string_view text) {
  const std::size_t fields = FieldsOfEach(text, InputFormat::kBlank, ',');
  return fields >= 2 && fields <= 4;
}

// Whether every comma of the first lines stands between two digits, as in 0,5.
bool CommasAreDecimal(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (int seen = 0; seen < kGuessLines && !text.empty(); ++seen) {
    const std::string_view line = TakeLine(text);
    for (std::size_t i = line.find(','); i != std::string_view::npos; i = line.find(',', i + 1)) {
      if (i == 0 || i + 1 == line.size() || !is_digit(line[i - 1]) || !is_digit(line[i + 1])) return false;
    }
  }
  return true;
}

// The separator of lines of fields, guessed from the first lines.
std::optional<InputFormat> GuessSeparator(std::string_view text) {
  Fields fields;
  std::deque<std::string> unescaped;
  const std::string_view all = text;
  std::size_t csv_fields = 0;
  int seen = 0;
  while (seen < kGuessLines && !text.empty()) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    // A single tab decides: names rarely contain tabs, but often commas and blanks.
    if (line.find('\t') != std::string_view::npos) return InputFormat::kTsv;
    SplitFields(line, InputFormat::kCsv, fields, unescaped);
    const bool fits = fields.complaint.empty() && fields.count >= 2 && fields.count <= 4;
    if (!fits || (seen > 0 && fields.count != csv_fields)) {
      return GuessCsvSeparator(all) != ',' && !AreBlankSeparated(all) ? InputFormat::kCsv : InputFormat::kBlank;
    }
    csv_fields = fields.count;
    ++seen;
  }
  if (seen == 0) return std::nullopt;
  return InputFormat::kCsv;
}

// N-Triples or N-Quads if the first data line is such a statement.
std::optional<InputFormat> GuessTriples(std::string_view text) {
  std::optional<StatementReader> reader;
  std::optional<InputFormat> guess;
  for (int seen = 0; seen < kGuessLines && !text.empty();) {
    const std::string_view line = TakeLine(text);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    ++seen;
    if (line[begin] != '<' && line[begin] != '_') return guess;  // avoids a reader for most files
    // Would be a malformed line, and serd cannot read it.
    if (line.size() > kMaxLineBytes || line.find('\0') != std::string_view::npos) return guess;
    if (!reader) reader.emplace(InputFormat::kNquads, false);
    if (reader->Read(line) != StatementReader::Result::kTriple) return guess;
    if (reader->has_graph()) return InputFormat::kNquads;
    guess = InputFormat::kNtriples;
  }
  return guess;
}

}  // namespace

// From the most to the least specific: text of every format could be read as blank-separated fields.
std::optional<InputFormat> GuessFormat(std::string_view text) {
  if (text.starts_with(kNpyMagic)) return InputFormat::kNpy;
  if (HasMatrixMarketBanner(text)) return InputFormat::kMatrixMarket;
  const std::optional<InputFormat> triples = GuessTriples(text);
  return triples ? triples : GuessSeparator(text);
}

char GuessCsvSeparator(std::string_view text) {
  const std::size_t by_comma = FieldsOfEach(text, InputFormat::kCsv, ',');
  for (const char separator : {';', '|'}) {
    const std::size_t fields = FieldsOfEach(text, InputFormat::kCsv, separator);
    if (fields >= 2 && (by_comma < 2 || CommasAreDecimal(text))) return separator;
  }
  return ',';
}

Columns GuessColumns(std::string_view text, InputFormat format, char separator) {
  Fields fields;
  std::deque<std::string> unescaped;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    SplitFields(line, format, fields, unescaped, separator);
    const Columns columns = DefaultColumns(fields.count);
    if (fields.complaint.empty() && columns.count > 0) return columns;
  }
  return {};
}

}  // namespace octavo
