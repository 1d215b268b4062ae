// The words of a line that was typed at the prompt of octavo query.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

struct Word {
  std::string text;       // without its quotes and escapes
  std::size_t begin = 0;  // where it begins in the line, its quote included
  bool quoted = false;
};

struct Words {
  std::vector<Word> list;
  bool open = false;  // the last word goes on at the end of the line
};

// Splits `line` at blanks. A word that begins with a quote goes on to the next one, and in it is what Escape
// (base/escape.h) writes; elsewhere every byte stands for itself.
Words SplitWords(std::string_view line);

// Whether a word must be quoted to be one word, and no other.
bool NeedsQuotes(std::string_view word);

}  // namespace octavo
