#include "parse/index_rows.h"

#include <charconv>
#include <cstring>

#include "fmt/format.h"
#include "parse/name_list.h"

namespace octavo {
namespace {

constexpr std::size_t kMostDigits = 20;  // of 2^64 - 1

// A value of any integer type; `negative` is set if it is below 0.
struct Index {
  std::uint64_t value = 0;
  bool negative = false;
};

Index IndexAt(const char* bytes, const IndexLayout& layout) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, layout.value_bytes);
  const std::uint64_t sign = std::uint64_t{1} << (8 * layout.value_bytes - 1);
  const bool negative = layout.is_signed && (value & sign) != 0;
  if (negative) value = sign - (value ^ sign);  // its absolute value
  return {value, negative};
}

class RowParser {
 public:
  RowParser(const LineLayout& layout, std::size_t rows, ParsedChunk& out) : layout_(layout), out_(out) {
    out_.edges.reserve(rows);
  }

  void Parse(const char* row) {
    ParsedEdge edge;
    const Columns& columns = layout_.columns;
    if (Take("head", row, columns.head, layout_.indexes.nodes, edge.head) &&
        Take("relation", row, columns.relation, layout_.indexes.relations, edge.relation) &&
        Take("tail", row, columns.tail, layout_.indexes.nodes, edge.tail)) {
      out_.edges.push_back(edge);
    }
    ++out_.lines;
  }

 private:
  bool Take(std::string_view what, const char* row, int column, const NameList* names, std::string_view& name) {
    if (column < 0) return true;
    const IndexLayout& layout = layout_.indexes;
    const Index index = IndexAt(row + static_cast<std::size_t>(column) * layout.value_bytes, layout);
    if (!index.negative && names == nullptr) {
      name = Digits(index.value);
      return true;
    }
    if (!index.negative && index.value < names->size()) {
      name = (*names)[index.value];
      return true;
    }
    ++out_.bad_line_count;
    if (out_.bad_lines.size() == kMaxDescribedLines) return false;
    const std::string expected =
        names == nullptr ? "one from 0 on"
                         : fmt::format("one below {}, the number of names in {}", names->size(), names->path());
    out_.bad_lines.push_back({.line = out_.lines,
                              .message = fmt::format("found the {} {}{}, expected {}", what, index.negative ? "-" : "",
                                                     index.value, expected)});
    return false;
  }

  std::string_view Digits(std::uint64_t value) {
    char digits[kMostDigits];
    const char* const end = std::to_chars(digits, digits + kMostDigits, value).ptr;
    return out_.Keep({digits, static_cast<std::size_t>(end - digits)});
  }

  const LineLayout& layout_;
  ParsedChunk& out_;
};

}  // namespace

void ParseIndexRows(std::string_view bytes, const LineLayout& layout, ParsedChunk& out) {
  const std::size_t row_bytes = layout.columns.count * layout.indexes.value_bytes;
  RowParser parser(layout, bytes.size() / row_bytes, out);
  for (std::size_t at = 0; at + row_bytes <= bytes.size(); at += row_bytes) parser.Parse(bytes.data() + at);
}

}  // namespace octavo
