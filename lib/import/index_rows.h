// Parses rows of a NumPy array of indexes into edges.
#pragma once

#include <string_view>

#include "import/record_parser.h"

namespace octavo {

// Parses `bytes`, whole rows of layout.columns.count integers as layout.indexes has them. Names are those of its lists,
// or the numbers. An index below 0 or beyond its list is a malformed row; a line of `out`, to which all is added, is a
// row. Pure; what is added lives no longer than the lists.
void ParseIndexRows(std::string_view bytes, const LineLayout& layout, ParsedChunk& out);

}  // namespace octavo
