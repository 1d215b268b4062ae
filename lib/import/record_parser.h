// Parses a chunk of text, cut at line ends, into edges whose names are still text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "import/text_format.h"

namespace octavo {

inline constexpr std::size_t kMaxNameBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
// Of a chunk's malformed lines this many are described; the others are only counted.
inline constexpr std::size_t kMaxDescribedLines = 10;

struct ParsedEdge {
  std::string_view head;
  std::string_view relation;  // empty if the layout has none
  std::string_view tail;
  float weight = 1.0F;
};

struct BadLine {
  std::uint64_t line = 0;  // in the chunk, from 0
  std::string message;     // "found ..., expected ..."
};

struct ParsedChunk {
  std::vector<ParsedEdge> edges;  // views into the chunk's text or into `unescaped`
  std::deque<std::string> unescaped;
  std::vector<BadLine> bad_lines;  // the first kMaxDescribedLines
  std::uint64_t bad_line_count = 0;
  std::uint64_t lines = 0;  // of every kind
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
};

// Parses every line of `text`. Pure; the result lives no longer than `text`.
ParsedChunk ParseChunk(std::string_view text, const LineLayout& layout);

}  // namespace octavo
