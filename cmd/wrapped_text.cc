#include "cmd/wrapped_text.h"

#include "absl/strings/str_split.h"

namespace octavo {

std::string Wrapped(std::string_view text, std::size_t columns, std::size_t indent, std::size_t used) {
  std::string out;
  std::size_t at = used;
  bool first = true;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    bool begins = true;
    if (!first) {
      out += '\n';
      at = 0;
    }
    for (const absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      if (!begins && at + 1 + word.size() > columns) {
        out += '\n';
        at = 0;
      } else if (!begins) {
        out += ' ';
        ++at;
      }
      if (at == 0) {
        out.append(indent, ' ');
        at = indent;
      }
      out.append(word.data(), word.size());
      at += word.size();
      begins = false;
    }
    first = false;
  }
  return out;
}

std::string NameAndText(std::string_view name, std::string_view text, std::size_t width, std::size_t columns) {
  std::string out = "  " + std::string(name);
  if (text.empty()) return out + "\n";
  if (out.size() >= width) {
    out += '\n';
    out.append(width, ' ');
  } else {
    out.append(width - out.size(), ' ');
  }
  return out + Wrapped(text, columns, width, width) + "\n";
}

}  // namespace octavo
