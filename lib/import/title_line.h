// Whether an edge list begins with the titles of its columns, which nothing but their words tells from an edge.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "import/input_format.h"

namespace octavo {

// Returns the number, from 1 on, of the first data line of `text` where its head and tail look like titles; empty where
// they do not or no line has the columns. Titles are no numbers, and either the lines behind have numbers for heads or
// for tails, or the two are a pair such as source and target, Id1 and Id2, :START_ID and :END_ID, and no line behind
// has names like them. Looks at a few lines only. REQUIRES: a format whose lines are fields: tsv, csv or blank;
// columns.count > 0
std::optional<TitleLine> FindTitleLine(std::string_view text, InputFormat format, const Columns& columns);

}  // namespace octavo
