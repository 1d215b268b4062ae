// Splits the lines typed at the prompt of octavo query into words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

struct Word {
  std::string text;       // without its quotes and escapes
  std::size_t begin = 0;  // in the line, including its quote
  bool quoted = false;
};

struct Words {
  std::vector<Word> list;
  bool open = false;  // the last word continues at the end of the line
};

// Splits `line` at blanks. A word that begins with a quote ends at the next quote and may contain the escapes of Escape
// (base/escape.h); elsewhere every byte stands for itself.
Words SplitWords(std::string_view line);

// Whether a word must be quoted to be read as one word with the same meaning.
bool NeedsQuotes(std::string_view word);

}  // namespace octavo
