#include "cmd/query_words.h"

#include <algorithm>

#include "base/escape.h"

namespace octavo {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

Words SplitWords(std::string_view line) {
  Words words;
  std::size_t i = line.find_first_not_of(kBlanks);
  while (i < line.size()) {
    Word word;
    word.begin = i;
    word.quoted = line[i] == '"';
    if (word.quoted) {
      std::size_t end = ++i;
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      words.open = end >= line.size();
      word.text = Unescape(line.substr(i, end - i));
      i = end + 1;
    } else {
      const std::size_t end = std::min(line.find_first_of(kBlanks, i), line.size());
      words.open = end == line.size();
      word.text = line.substr(i, end - i);
      i = end;
    }
    words.list.push_back(std::move(word));
    i = i < line.size() ? line.find_first_not_of(kBlanks, i) : line.size();
  }
  return words;
}

bool NeedsQuotes(std::string_view word) {
  return word.empty() || word == "?" || word.find_first_of(kBlanks) != std::string_view::npos ||
         Escape(word, word.size()) != word;
}

}  // namespace octavo
