// Inputs of import in binary and structured formats. The first letter selects how the rest is read: as a file of
// N-Triples (t), N-Quads (q), Matrix Market (m), a NumPy array (a), or by its contents (?).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/edge_collector.h"
#include "parse/statement_reader.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

std::string Written(const std::string& name) {
  const bool as_it_is = name.starts_with("_:") || name.starts_with('"');
  return as_it_is ? name : "<" + name + ">";
}

// A statement has names that fit a file of lines; written out, they are read again unchanged.
void CheckStatement(std::string_view line, InputFormat format) {
  StatementReader reader(format, true);
  const StatementReader::Result result = reader.Read(line);
  if (result == StatementReader::Result::kMalformed) {
    CheckMessage(reader.complaint());
    MUST(reader.column() >= 1 && reader.column() <= line.size() + 1);
  }
  if (result != StatementReader::Result::kTriple) return;
  for (const std::string* name : {&reader.subject(), &reader.predicate(), &reader.object()}) {
    MUST(!name->empty() && name->find_first_of("\t\n\r") == std::string::npos);
  }
  MUST(reader.has_literal() == reader.object().starts_with('"'));
  StatementReader again(format, true);
  MUST(again.Read(Written(reader.subject()) + " " + Written(reader.predicate()) + " " + Written(reader.object()) +
                  " .") == StatementReader::Result::kTriple);
  MUST(again.subject() == reader.subject() && again.predicate() == reader.predicate());
  MUST(again.object() == reader.object() && !again.has_graph());
}

void CheckFile(std::string_view bytes, std::optional<InputFormat> format) {
  static MemoryFile file;
  file.Fill(bytes);
  CollectOptions options;
  options.layout.format = format;
  options.max_bad_lines = bytes.size() % 2 == 0 ? 0 : 1000;
  options.workers = 1;
  options.limits.window_bytes = std::uint64_t{1} << 20;
  const std::vector<InputFile> files = {{.path = file.path(), .split = EdgeSplit::kTrain}};
  CollectedEdges out;
  const absl::Status status = CollectEdges(files, options, out);
  if (!status.ok()) {
    MUST(KindOf(status) == ErrorKind::kInput || KindOf(status) == ErrorKind::kUsage);
    // One line for each of the first malformed ones.
    std::string_view message = MessageOf(status);
    while (!message.empty()) CheckMessage(TakeLine(message));
    return;
  }
  MUST(out.bad_lines <= options.max_bad_lines);
  MUST(out.file_edges[0] + out.bad_lines + out.literals + out.comment_lines + out.blank_lines == out.lines);
  MUST(out.held_edges >= out.file_edges[0] && out.held_edges <= 2 * out.file_edges[0]);
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using octavo::InputFormat;
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  const std::string_view rest = input.rest();
  std::optional<InputFormat> format;
  if (kind == 't') format = InputFormat::kNtriples;
  if (kind == 'q') format = InputFormat::kNquads;
  if (kind == 'm') format = InputFormat::kMatrixMarket;
  if (kind == 'a') format = InputFormat::kNpy;
  octavo::CheckFile(rest, format);
  if (!format || !octavo::IsTriples(*format)) return 0;
  std::string_view text = rest;
  while (!text.empty()) {
    const std::string_view line = octavo::TakeLine(text);
    if (line.find('\0') == std::string_view::npos) octavo::CheckStatement(line, *format);
  }
  return 0;
}
