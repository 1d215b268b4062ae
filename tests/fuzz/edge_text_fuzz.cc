// Lines of an edge list. The first line of the input is the format (tsv, csv, blank or ? to guess it), a blank, and the
// columns (if missing: guess them); the other lines are the edge list.
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/number.h"
#include "fmt/format.h"
#include "parse/field_splitter.h"
#include "parse/format_guess.h"
#include "parse/header_line.h"
#include "parse/input_format.h"
#include "parse/record_parser.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

struct NaiveEdge {
  std::string head;
  std::string relation;
  std::string tail;
  double weight = 1;  // 0: the line is no edge
};

// Splits a line letter by letter; empty if its quotes are wrong.
std::optional<std::vector<std::string>> NaiveFields(std::string_view line, InputFormat format, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;  // inside quotes
  bool closed = false;  // after the closing quote
  bool empty = true;    // nothing of the field has been read
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (format == InputFormat::kBlank && (c == ' ' || c == '\t')) {
      if (!fields.back().empty()) fields.emplace_back();
    } else if (format == InputFormat::kTsv && c == '\t') {
      fields.emplace_back();
    } else if (format == InputFormat::kCsv && quoted) {
      const bool doubled = c == '"' && i + 1 < line.size() && line[i + 1] == '"';
      if (c != '"' || doubled) fields.back() += c;
      if (doubled) ++i;
      if (c == '"' && !doubled) closed = true;
      quoted = !closed;
    } else if (format == InputFormat::kCsv && c == separator) {
      fields.emplace_back();
      closed = false;
      empty = true;
    } else if (format == InputFormat::kCsv && (closed || (c == '"' && !empty))) {
      return std::nullopt;
    } else if (format == InputFormat::kCsv && c == '"') {
      quoted = true;
      empty = false;
    } else {
      fields.back() += c;
      empty = false;
    }
  }
  if (quoted) return std::nullopt;
  if (format == InputFormat::kBlank && fields.back().empty()) fields.pop_back();
  return fields;
}

std::optional<NaiveEdge> NaiveData(std::string_view line, const LineLayout& layout) {
  const Columns& columns = layout.columns;
  const auto fields = NaiveFields(line, layout.format, layout.separator);
  if (line.find('\0') != std::string_view::npos || !fields || fields->size() != columns.count) return std::nullopt;
  const auto at = [&](int place) { return place < 0 ? std::string() : (*fields)[static_cast<std::size_t>(place)]; };
  NaiveEdge edge{at(columns.head), at(columns.relation), at(columns.tail), 1};
  if (edge.head.empty() || edge.tail.empty() || (columns.relation >= 0 && edge.relation.empty())) return std::nullopt;
  if (columns.weight >= 0) {
    std::string text = at(columns.weight);
    const std::size_t comma = text.find(',');
    if (layout.separator != ',' && comma != std::string::npos) text[comma] = '.';
    const std::optional<double> weight = ParseRealNumber(text);
    const float rounded = static_cast<float>(weight.value_or(-1));
    if (rounded < 0 || !std::isfinite(rounded) || (rounded == 0 && *weight != 0)) return std::nullopt;
    edge.weight = *weight;
  }
  return edge;
}

// REQUIRES: no line of `text` is close to the length limit
void CheckAgainstNaive(std::string_view text, const LineLayout& layout, const ParsedChunk& parsed) {
  std::uint64_t lines = 0;
  std::uint64_t bad = 0;
  std::uint64_t zeros = 0;
  std::size_t edges = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++lines;
    const bool nul = line.find('\0') != std::string_view::npos;
    const bool passed_over =
        line.find_first_not_of(" \t") == std::string_view::npos || line[0] == '#' || line[0] == '%';
    if (passed_over && !nul) continue;
    const std::optional<NaiveEdge> expected = nul ? std::nullopt : NaiveData(line, layout);
    if (!expected) {
      if (bad < kMaxDescribedLines) MUST(bad < parsed.bad_lines.size() && parsed.bad_lines[bad].line == lines - 1);
      ++bad;
      continue;
    }
    if (expected->weight == 0) {
      ++zeros;
      continue;
    }
    MUST(edges < parsed.edges.size());
    const ParsedEdge& edge = parsed.edges[edges++];
    MUST(edge.head == expected->head && edge.relation == expected->relation && edge.tail == expected->tail);
    MUST(std::abs(edge.weight - expected->weight) <= 1e-6 * expected->weight + 2e-45);
  }
  MUST(parsed.lines == lines && parsed.bad_line_count == bad && parsed.edges.size() == edges);
  MUST(parsed.bad_lines.size() == std::min<std::uint64_t>(bad, kMaxDescribedLines));
  MUST(parsed.zero_weights == zeros && parsed.blank_lines + parsed.comment_lines + bad + zeros + edges == lines);
  for (const BadLine& line : parsed.bad_lines) CheckMessage(line.message);
}

bool Same(const ParsedEdge& a, const ParsedEdge& b) {
  return a.head == b.head && a.relation == b.relation && a.tail == b.tail && a.weight == b.weight;
}

std::string Quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

// The parsed edges, written as CSV and parsed again.
void CheckWrittenAgain(const ParsedChunk& parsed) {
  std::string text;
  for (const ParsedEdge& edge : parsed.edges) {
    text += fmt::format("{},{},{},{}\n", Quoted(edge.head), Quoted(edge.relation.empty() ? "r" : edge.relation),
                        Quoted(edge.tail), edge.weight);
  }
  const ParsedChunk again = ParseChunk(text, {.format = InputFormat::kCsv, .columns = DefaultColumns(4)});
  MUST(again.bad_line_count == 0 && again.edges.size() == parsed.edges.size());
  for (std::size_t i = 0; i < parsed.edges.size(); ++i) {
    ParsedEdge expected = parsed.edges[i];
    if (expected.relation.empty()) expected.relation = "r";
    MUST(Same(again.edges[i], expected));
  }
}

// Two chunks, cut at a line end, contain the same as one.
void CheckCut(std::string_view text, const LineLayout& layout, const ParsedChunk& parsed) {
  const std::size_t cut = text.find('\n', text.size() / 2);
  if (cut == std::string_view::npos) return;
  const ParsedChunk first = ParseChunk(text.substr(0, cut + 1), layout);
  const ParsedChunk second = ParseChunk(text.substr(cut + 1), layout);
  MUST(first.lines + second.lines == parsed.lines);
  MUST(first.bad_line_count + second.bad_line_count == parsed.bad_line_count);
  MUST(first.edges.size() + second.edges.size() == parsed.edges.size());
  for (std::size_t i = 0; i < parsed.edges.size(); ++i) {
    const bool in_first = i < first.edges.size();
    MUST(Same(in_first ? first.edges[i] : second.edges[i - first.edges.size()], parsed.edges[i]));
  }
}

void Run(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view head = input.substr(0, end);
  const std::string_view text = input.substr(std::min(end + 1, input.size()));
  const std::size_t blank = std::min(head.find(' '), head.size());
  const std::string_view name = head.substr(0, blank);
  const std::optional<InputFormat> guess = GuessFormat(text);
  LineLayout layout;
  if (name == "?" && guess) layout.format = *guess;
  for (const InputFormat format : {InputFormat::kTsv, InputFormat::kCsv, InputFormat::kBlank}) {
    if (InputFormatName(format) == name) layout.format = format;
  }
  if (layout.format == InputFormat::kCsv) layout.separator = GuessCsvSeparator(text);
  layout.columns = GuessColumns(text, layout.format, layout.separator);
  MUST(layout.columns == DefaultColumns(layout.columns.count));
  if (const auto columns = ParseColumns(head.substr(std::min(blank + 1, head.size()))); columns.ok()) {
    layout.columns = *columns;
  }
  // An empty view may have no address, but a chunk always has one.
  const ParsedChunk parsed = ParseChunk(text.empty() ? std::string_view("") : text, layout);
  MUST(guess.has_value() || parsed.edges.empty());
  if (layout.columns.count > 0) {
    const std::optional<HeaderLine> titles = FindHeaderLine(text, layout.format, layout.columns, layout.separator);
    MUST(!titles || (titles->line >= 1 && titles->line <= parsed.lines && KindOfLine(titles->text) == LineKind::kData));
  }
  CheckAgainstNaive(text, layout, parsed);
  CheckWrittenAgain(parsed);
  CheckCut(text, layout, parsed);
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::Run(octavo::FuzzInput(data, size).rest());
  return 0;
}
