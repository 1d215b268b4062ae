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

// The separator of lines of fields, guessed from the first lines.
std::optional<InputFormat> GuessSeparator(std::string_view text) {
  Fields fields;
  std::deque<std::string> unescaped;
  std::size_t csv_fields = 0;
  int seen = 0;
  while (seen < kGuessLines && !text.empty()) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    // A single tab decides: names rarely contain tabs, but often commas and blanks.
    if (line.find('\t') != std::string_view::npos) return InputFormat::kTsv;
    SplitFields(line, InputFormat::kCsv, fields, unescaped);
    const bool fits = fields.complaint.empty() && fields.count >= 2 && fields.count <= 4;
    if (!fits || (seen > 0 && fields.count != csv_fields)) return InputFormat::kBlank;
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

Columns GuessColumns(std::string_view text, InputFormat format) {
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
