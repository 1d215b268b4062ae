// What comes of a chunk of an input: edges whose names are still text, and what was wrong with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

inline constexpr std::size_t kMaxNameBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
// How many malformed lines of a chunk are described; further ones are only counted.
inline constexpr std::size_t kMaxDescribedLines = 10;

struct ParsedEdge {
  std::string_view head;
  std::string_view relation;  // empty if the layout has none
  std::string_view tail;
  float weight = 1.0F;
};

// Names with their labels, in input order.
struct ParsedLabels {
  std::string text;                                   // names and labels, one after the other
  std::vector<std::array<std::uint32_t, 2>> lengths;  // of a name and its label

  void Add(std::string_view name, std::string_view label);
};

struct BadLine {
  std::uint64_t line = 0;  // in the chunk, from 0
  std::string message;     // "found ..., expected ..."
  std::size_t column = 0;  // byte in the line, from 1; 0: not known
};

struct ParsedChunk {
  std::vector<ParsedEdge> edges;      // views into the chunk's text or into `unescaped`
  std::deque<std::string> unescaped;  // elements never move; those added by Keep are never reallocated
  std::vector<BadLine> bad_lines;     // the first kMaxDescribedLines
  std::uint64_t bad_line_count = 0;
  std::uint64_t lines = 0;  // of every kind
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t literals = 0;      // triples whose object is a literal, kept or not; without labels
  ParsedLabels labels;             // of the chosen language
  std::uint64_t label_lines = 0;   // triples with labels of any language
  std::uint64_t zero_weights = 0;  // lines of weight 0, which are no edges

  // Returns a copy of `text` that lives as long as `unescaped`.
  std::string_view Keep(std::string_view text);
};

}  // namespace octavo
