// What the sections of a page are made of. Texts may hold any bytes. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/figure.h"

namespace octavo {

// Returns "1,234,567", and with a noun "1 batch" or "1,234 batches".
std::string Whole(std::uint64_t number);
std::string Plural(std::uint64_t count, std::string_view noun);

// Returns a paragraph of small print.
std::string Note(std::string_view text);

// Returns a section under a heading; `id` and `body` are HTML.
std::string Section(std::string_view id, std::string_view title, std::string_view body);

// Returns a table of two columns.
std::string Table(const std::vector<std::pair<std::string, std::string>>& rows);

using Figure = std::variant<LineFigure, StackFigure, BarFigure, HeatFigure, SpanFigure>;

// Returns figures two in a row. Where one of an odd number would leave half a row empty, the first has a row of its
// own.
std::string Figures(std::vector<Figure> figures);

}  // namespace octavo
