// Parses a chunk of text, cut at line ends, into edges whose names are still text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "import/input_format.h"

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
  std::size_t column = 0;  // byte of the line where that stands, from 1; 0: not told
};

struct ParsedChunk {
  std::vector<ParsedEdge> edges;      // views into the chunk's text or into `unescaped`
  std::deque<std::string> unescaped;  // elements never move, and those that Keep fills are never reallocated
  std::vector<BadLine> bad_lines;     // the first kMaxDescribedLines
  std::uint64_t bad_line_count = 0;
  std::uint64_t lines = 0;  // of every kind
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t literals = 0;  // triples whose object is one, kept or not

  // Returns a copy of `text` that lives as long as `unescaped`.
  std::string_view Keep(std::string_view text);
};

// Parses every line of `text`, or for kNpy every row (index_rows.h), of a base every record (base_edges.h). Pure; the
// result lives no longer than `text` and what the layout borrows. Its edges take the memory of `edges`.
ParsedChunk ParseChunk(std::string_view text, const LineLayout& layout, std::vector<ParsedEdge> edges = {});

}  // namespace octavo
