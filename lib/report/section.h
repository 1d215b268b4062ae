// The elements of a page's sections. Texts may contain any bytes. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/figure.h"

namespace octavo {

// Whole returns "1,234,567"; Plural adds a noun: "1 batch" or "1,234 batches".
std::string Whole(std::uint64_t number);
std::string Plural(std::uint64_t count, std::string_view noun);

// Returns a paragraph of small print.
std::string Note(std::string_view text);

// Returns a section with a heading. `id` and `body` are HTML.
std::string Section(std::string_view id, std::string_view title, std::string_view body);

// Returns a table with two columns. Values of short words, such as numbers, break only at their blanks.
std::string Table(const std::vector<std::pair<std::string, std::string>>& rows);

using Figure = std::variant<LineFigure, StackFigure, BarFigure, HeatFigure, SpanFigure>;

// Returns the figures in rows of two. If an odd number would leave half a row empty, the first figure gets a whole row.
std::string Figures(std::vector<Figure> figures);

}  // namespace octavo
