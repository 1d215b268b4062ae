#include "parse/record_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "base/escape.h"
#include "fmt/format.h"
#include "parse/base_edges.h"
#include "parse/field_splitter.h"
#include "parse/index_rows.h"
#include "parse/statement_reader.h"

namespace octavo {
namespace {

std::string_view FieldAt(const Fields& fields, int position) {
  return position < 0 ? std::string_view() : fields.values[static_cast<std::size_t>(position)];
}

// Language tags are ASCII.
bool EqualInAnyCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Parses lines one by one into a ParsedChunk.
class ChunkParser {
 public:
  ChunkParser(const LineLayout& layout, bool has_nul, ParsedChunk& out)
      : layout_(layout), has_nul_(has_nul), out_(out) {
    if (IsTriples(layout.format)) triples_.emplace(layout.format, layout.keep_literals || layout.labels != nullptr);
  }

  void ParseLine(std::string_view line) {
    // Lines without an edge may contain anything, but a NUL byte means that this is not text.
    if (has_nul_ && std::memchr(line.data(), '\0', line.size()) != nullptr) {
      return Refuse(fmt::format("found a NUL byte in \"{}\", expected text", Escape(line, 40)));
    }
    // Header lines count as comments.
    if (out_.lines < layout_.header_lines) {
      ++out_.comment_lines;
      return;
    }
    if (triples_) return ParseTriple(line);
    switch (KindOfLine(line)) {
      case LineKind::kBlank:
        ++out_.blank_lines;
        return;
      case LineKind::kComment:
        ++out_.comment_lines;
        return;
      case LineKind::kData:
        ParseData(line);
    }
  }

 private:
  void Refuse(std::string message, std::size_t column = 0) {
    ++out_.bad_line_count;
    if (out_.bad_lines.size() < kMaxDescribedLines) out_.bad_lines.push_back({out_.lines, std::move(message), column});
  }

  bool TooLong(std::string_view line) {
    if (line.size() <= kMaxLineBytes) return false;
    Refuse(fmt::format("found a line of more than {} bytes, \"{}\", expected a shorter one", kMaxLineBytes,
                       Escape(line, 40)));
    return true;
  }

  void ParseTriple(std::string_view line) {
    if (TooLong(line)) return;
    switch (triples_->Read(line)) {
      case StatementReader::Result::kNothing:
        ++(line.find_first_not_of(" \t") == std::string_view::npos ? out_.blank_lines : out_.comment_lines);
        return;
      case StatementReader::Result::kMalformed:
        return Refuse(triples_->complaint(), triples_->column());
      case StatementReader::Result::kTriple:
        break;
    }
    ParsedEdge edge;
    const bool edge_of_literal = triples_->has_literal();
    if (edge_of_literal && layout_.labels != nullptr && triples_->predicate() == layout_.labels->predicate) {
      return TakeLabel();
    }
    if (edge_of_literal && !layout_.keep_literals) {
      ++out_.literals;
      return;
    }
    if (!TakeName("head", triples_->subject(), edge.head) ||
        !TakeName("relation", triples_->predicate(), edge.relation) ||
        !TakeName("tail", triples_->object(), edge.tail)) {
      return;
    }
    out_.literals += edge_of_literal ? 1 : 0;
    // The reader reuses its strings, so the names are copied.
    out_.edges.push_back({out_.Keep(edge.head), out_.Keep(edge.relation), out_.Keep(edge.tail)});
  }

  void TakeLabel() {
    ++out_.label_lines;
    const std::string& language = layout_.labels->language;
    const std::string& tag = triples_->literal_language();
    if (!language.empty() && !tag.empty() && !EqualInAnyCase(language, tag)) return;
    std::string_view name, label;
    if (!TakeName("name", triples_->subject(), name)) return;
    if (triples_->literal_text().empty()) return;
    if (TakeName("label", triples_->literal_text(), label)) out_.labels.Add(name, label);
  }

  void ParseData(std::string_view line) {
    if (TooLong(line)) return;
    SplitFields(line, layout_.format, fields_, out_.unescaped, layout_.separator);
    if (!fields_.complaint.empty()) {
      return Refuse(fmt::format("found {} in \"{}\", expected quotes around a whole field, \"\" for one within",
                                fields_.complaint, Escape(line)));
    }
    if (fields_.count != layout_.columns.count) return RefuseColumns(line);
    ParsedEdge edge;
    const Columns& columns = layout_.columns;
    if (!TakeName("head", FieldAt(fields_, columns.head), edge.head)) return;
    if (columns.relation >= 0 && !TakeName("relation", FieldAt(fields_, columns.relation), edge.relation)) return;
    if (!TakeName("tail", FieldAt(fields_, columns.tail), edge.tail)) return;
    if (layout_.format == InputFormat::kMatrixMarket &&
        !(TakeMatrixIndex("row", edge.head) && TakeMatrixIndex("column", edge.tail)))
      return;
    if (columns.weight >= 0 && !TakeWeight(FieldAt(fields_, columns.weight), edge.weight)) return;
    if (edge.weight == 0) {
      ++out_.zero_weights;
    } else {
      out_.edges.push_back(edge);
    }
  }

  void RefuseColumns(std::string_view line) {
    const std::string expected =
        layout_.columns.count == 0
            ? "2 (head,tail), 3 (head,relation,tail) or 4 (head,relation,tail,weight); --columns names others"
            : fmt::format("{} ({})", layout_.columns.count, ColumnsText(layout_.columns));
    Refuse(fmt::format("found {} {} column{} in \"{}\", expected {}", fields_.count, InputFormatName(layout_.format),
                       fields_.count == 1 ? "" : "s", Escape(line), expected));
  }

  bool TakeName(std::string_view what, std::string_view field, std::string_view& name) {
    name = field;
    if (!name.empty() && name.size() <= kMaxNameBytes) return true;
    if (name.empty()) {
      Refuse(fmt::format("found an empty {}, expected a name", what));
    } else {
      Refuse(fmt::format("found a {} of {} bytes, \"{}\", expected at most {}", what, name.size(), Escape(name, 40),
                         kMaxNameBytes));
    }
    return false;
  }

  // Removes leading zeros.
  bool TakeMatrixIndex(std::string_view what, std::string_view& name) {
    std::uint64_t index = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, index);
    if (error == std::errc() && stop == end && index >= 1 && index <= layout_.matrix_rows) {
      name.remove_prefix(name.find_first_not_of('0'));
      return true;
    }
    Refuse(fmt::format("found the {} \"{}\", expected a number from 1 to {}", what, Escape(name, 40),
                       layout_.matrix_rows));
    return false;
  }

  bool TakeWeight(std::string_view field, float& weight) {
    std::string with_point;
    std::string_view text = field;
    if (const std::size_t comma = field.find(','); layout_.separator != ',' && comma != std::string_view::npos) {
      with_point = field;
      with_point[comma] = '.';
      text = with_point;
    }
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, weight);
    if (error == std::errc() && stop == end && std::isfinite(weight) && weight >= 0) return true;
    const bool blank = field.starts_with(' ') || field.ends_with(' ');
    Refuse(fmt::format("found the weight \"{}\", expected a finite number, 0 or above, that float32 holds{}",
                       Escape(field), blank ? "; blanks beside a separator are part of the field, also of names" : ""));
    return false;
  }

  const LineLayout& layout_;
  const bool has_nul_;
  ParsedChunk& out_;
  Fields fields_;
  std::optional<StatementReader> triples_;
};

}  // namespace

// Reuses the memory of the previous chunk.
ParsedChunk ParseChunk(std::string_view text, const LineLayout& layout, std::vector<ParsedEdge> edges) {
  ParsedChunk out;
  out.edges = std::move(edges);  // for its memory
  out.edges.clear();
  if (layout.of_base) {
    ParseBaseEdges(text, out);
    return out;
  }
  if (layout.format == InputFormat::kNpy) {
    ParseIndexRows(text, layout, out);
    return out;
  }
  // One search in the whole chunk spares one in each line.
  const bool has_nul = std::memchr(text.data(), '\0', text.size()) != nullptr;
  ChunkParser parser(layout, has_nul, out);
  while (!text.empty()) {
    parser.ParseLine(TakeLine(text));
    ++out.lines;
  }
  return out;
}

}  // namespace octavo
