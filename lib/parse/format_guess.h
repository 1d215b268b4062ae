// The format, and the columns, of a file by its first lines.
#pragma once

#include <optional>
#include <string_view>

#include "parse/input_format.h"

namespace octavo {

// Guesses the format from the beginning of a file. A banner means Matrix Market, and NumPy's magic an array. Otherwise
// the first data lines decide: if the first is a statement, N-Quads if any of them has a graph, else N-Triples; tabs
// mean TSV; the same number (2 to 4) of comma-separated fields in each means CSV, and so does another separator that
// GuessCsvSeparator finds where blanks do not fit; anything else is separated by blanks. Empty if there is no data
// line.
std::optional<InputFormat> GuessFormat(std::string_view text);

// The separator of CSV, guessed from the first data lines: a semicolon or | that gives each of them the same number of
// fields, if commas do not or only stand in numbers (0,5); otherwise a comma.
char GuessCsvSeparator(std::string_view text);

// Returns DefaultColumns for the first data line of `text` with 2 to 4 fields; Columns{} if there is none.
// REQUIRES: a format whose lines are fields: tsv, csv or blank
Columns GuessColumns(std::string_view text, InputFormat format, char separator = ',');

}  // namespace octavo
