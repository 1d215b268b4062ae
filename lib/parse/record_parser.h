// Parses a chunk of text, cut at line ends, into edges whose names are still text.
#pragma once

#include <string_view>
#include <vector>

#include "parse/input_format.h"
#include "parse/parsed_chunk.h"

namespace octavo {

// Parses every line of `text`; for kNpy every row (index_rows.h), for a base every record (base_edges.h). Pure. The
// result lives no longer than `text` and what the layout refers to. Its edges reuse the memory of `edges`.
ParsedChunk ParseChunk(std::string_view text, const LineLayout& layout, std::vector<ParsedEdge> edges = {});

}  // namespace octavo
