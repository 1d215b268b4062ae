#include "import/record_parser.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/escape.h"
#include "fmt/format.h"
#include "import/field_splitter.h"

namespace octavo {
namespace {

std::string_view FieldAt(const Fields& fields, int position) {
  return position < 0 ? std::string_view() : fields.values[static_cast<std::size_t>(position)];
}

// Parses lines one by one into a ParsedChunk.
class ChunkParser {
 public:
  ChunkParser(const LineLayout& layout, bool has_nul, ParsedChunk& out)
      : layout_(layout), has_nul_(has_nul), out_(out) {}

  void ParseLine(std::string_view line) {
    // Lines that hold no edge are passed over whatever is in them, but a NUL means that this is no text.
    if (has_nul_ && std::memchr(line.data(), '\0', line.size()) != nullptr) {
      return Refuse(fmt::format("found a NUL byte in \"{}\", expected text", Escape(line, 40)));
    }
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
  void Refuse(std::string message) {
    ++out_.bad_line_count;
    if (out_.bad_lines.size() < kMaxDescribedLines) out_.bad_lines.push_back({out_.lines, std::move(message)});
  }

  void ParseData(std::string_view line) {
    if (line.size() > kMaxLineBytes) {
      return Refuse(fmt::format("found a line of more than {} bytes, \"{}\", expected a shorter one", kMaxLineBytes,
                                Escape(line, 40)));
    }
    SplitFields(line, layout_.format, fields_, out_.unescaped);
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
    if (columns.weight >= 0 && !TakeWeight(FieldAt(fields_, columns.weight), edge.weight)) return;
    out_.edges.push_back(edge);
  }

  void RefuseColumns(std::string_view line) {
    const std::string expected =
        layout_.columns.count == 0
            ? "2 (head,tail), 3 (head,relation,tail) or 4 (head,relation,tail,weight); --columns names others"
            : fmt::format("{} ({})", layout_.columns.count, ColumnsText(layout_.columns));
    Refuse(fmt::format("found {} {} column{} in \"{}\", expected {}", fields_.count, TextFormatName(layout_.format),
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

  bool TakeWeight(std::string_view field, float& weight) {
    const char* const end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, weight);
    if (error == std::errc() && stop == end && std::isfinite(weight) && weight > 0) return true;
    Refuse(fmt::format("found the weight \"{}\", expected a finite number above 0", Escape(field)));
    return false;
  }

  const LineLayout& layout_;
  const bool has_nul_;
  ParsedChunk& out_;
  Fields fields_;
};

}  // namespace

ParsedChunk ParseChunk(std::string_view text, const LineLayout& layout) {
  ParsedChunk out;
  const bool has_nul = std::memchr(text.data(), '\0', text.size()) != nullptr;
  ChunkParser parser(layout, has_nul, out);
  while (!text.empty()) {
    parser.ParseLine(TakeLine(text));
    ++out.lines;
  }
  return out;
}

}  // namespace octavo
