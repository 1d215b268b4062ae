#include "parse/field_splitter.h"

#include <cstring>

namespace octavo {
namespace {

void Add(Fields& fields, std::string_view value) {
  if (fields.count < kMaxColumns) fields.values[fields.count] = value;
  if (fields.count <= kMaxColumns) ++fields.count;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

void SplitAtTabs(std::string_view line, Fields& fields) {
  const char* begin = line.data();
  const char* const end = begin + line.size();
  while (const void* const tab = std::memchr(begin, '\t', static_cast<std::size_t>(end - begin))) {
    Add(fields, {begin, static_cast<std::size_t>(static_cast<const char*>(tab) - begin)});
    begin = static_cast<const char*>(tab) + 1;
  }
  Add(fields, {begin, static_cast<std::size_t>(end - begin)});
}

void SplitAtBlanks(std::string_view line, Fields& fields) {
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && IsBlank(line[i])) ++i;
    if (i == line.size()) return;
    const std::size_t begin = i;
    while (i < line.size() && !IsBlank(line[i])) ++i;
    Add(fields, line.substr(begin, i - begin));
  }
}

// Removes the quoted field at the head of `rest`, including its closing quote. Returns false if there is none.
bool TakeQuoted(std::string_view& rest, std::string_view& value, std::deque<std::string>& unescaped) {
  std::size_t close = rest.find('"', 1);
  if (close == std::string_view::npos) return false;
  if (close + 1 >= rest.size() || rest[close + 1] != '"') {  // without doubled quotes a view suffices
    value = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    return true;
  }
  // Each doubled quote becomes one: appends the text between them piece by piece.
  std::string text;
  std::size_t from = 1;
  while (close != std::string_view::npos) {
    text.append(rest, from, close - from);
    if (close + 1 >= rest.size() || rest[close + 1] != '"') {
      rest.remove_prefix(close + 1);
      value = unescaped.emplace_back(std::move(text));
      return true;
    }
    text += '"';
    from = close + 2;
    close = rest.find('"', from);
  }
  return false;
}

// RFC 4180, section 2, without line breaks inside fields.
void SplitCsv(std::string_view rest, char separator, Fields& fields, std::deque<std::string>& unescaped) {
  while (true) {
    std::string_view value;
    if (!rest.empty() && rest.front() == '"') {
      if (!TakeQuoted(rest, value, unescaped)) {
        fields.complaint = "a quote without its closing quote";
        return;
      }
      if (!rest.empty() && rest.front() != separator) {
        fields.complaint = "text after a closing quote";
        return;
      }
    } else {
      value = rest.substr(0, rest.find(separator));
      rest.remove_prefix(value.size());
      if (value.find('"') != std::string_view::npos) {
        fields.complaint = "a quote inside a field without quotes";
        return;
      }
    }
    Add(fields, value);
    if (rest.empty()) return;
    rest.remove_prefix(1);  // the separator
  }
}

}  // namespace

void SplitFields(std::string_view line, InputFormat format, Fields& fields, std::deque<std::string>& unescaped,
                 char separator) {
  fields.count = 0;
  fields.complaint = {};
  switch (format) {
    case InputFormat::kTsv:
      return SplitAtTabs(line, fields);
    case InputFormat::kCsv:
      return SplitCsv(line, separator, fields, unescaped);
    case InputFormat::kBlank:
    // Entries of a Matrix Market file are separated like columns of blank-separated text.
    case InputFormat::kMatrixMarket:
      return SplitAtBlanks(line, fields);
    case InputFormat::kNtriples:
    case InputFormat::kNquads:
    case InputFormat::kNpy:
      return;
  }
}

}  // namespace octavo
