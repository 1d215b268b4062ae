// Splits a line into its fields.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "parse/input_format.h"

namespace octavo {

// The fields of one line: views into the line, or into `unescaped` if CSV quotes were removed.
struct Fields {
  std::array<std::string_view, kMaxColumns> values;
  std::size_t count = 0;       // kMaxColumns + 1 if there are more than fit
  std::string_view complaint;  // what is wrong with the quotes; empty if nothing
};

// Splits `line` (without its line end) by the rules of `format`. Adds fields that needed unescaping to `unescaped`,
// whose elements never move; it may be used for many lines.
// `separator` is that of csv.
// REQUIRES: `format` is tsv, csv, blank or mtx, whose lines are fields
void SplitFields(std::string_view line, InputFormat format, Fields& fields, std::deque<std::string>& unescaped,
                 char separator = ',');

}  // namespace octavo
