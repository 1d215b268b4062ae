// Parses rows of a NumPy array of indexes into edges.
#pragma once

#include <string_view>

#include "parse/input_format.h"
#include "parse/parsed_chunk.h"

namespace octavo {

// Parses `bytes`, whole rows of layout.columns.count integers in the format of layout.indexes. Names come from its
// lists, or are the numbers. An index below 0 or beyond its list is a malformed row. Adds everything to `out`, where a
// line is a row. Pure. What is added lives no longer than the lists.
void ParseIndexRows(std::string_view bytes, const LineLayout& layout, ParsedChunk& out);

}  // namespace octavo
