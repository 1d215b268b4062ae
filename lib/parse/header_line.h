// Detects what only the words of an edge list tell: whether it begins with column titles, and columns that are probably
// misread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parse/input_format.h"

namespace octavo {

// Returns the number, from 1, of the first data line of `text` if its head and tail look like titles. Empty if they do
// not or if no line has the columns. Titles are not numbers. In addition, either the following lines have numbers as
// heads, as tails or, unlike the first, as weights, or the two titles are a known pair such as source and target, Id1
// and Id2, :START_ID and :END_ID, and no following line has names like them. Reads only a few lines. REQUIRES: a format
// whose lines are fields: tsv, csv or blank; columns.count > 0
std::optional<HeaderLine> FindHeaderLine(std::string_view text, InputFormat format, const Columns& columns,
                                         char separator = ',');

// Whether the tails of the first lines look like weights. All are numbers; and the heads are not, or some tails have
// decimals, or all are times in seconds and larger than the other numbers, or they are a few ratings of many relations.
// Ignores the first line, which may be titles. The same requirements, and columns.relation >= 0.
bool HasNumericTails(std::string_view text, InputFormat format, const Columns& columns, char separator = ',');

// Whether the weights of the first lines are whole numbers as large as times in seconds. Ignores the first line. The
// same requirements, and columns.weight >= 0.
bool HasTimesAsWeights(std::string_view text, InputFormat format, const Columns& columns, char separator = ',');

// Whether every name of the first lines that follows a separator begins with a blank, which is a part of it. Ignores
// the first line. The same requirements.
bool HasNamesAfterBlanks(std::string_view text, InputFormat format, const Columns& columns, char separator = ',');

}  // namespace octavo
