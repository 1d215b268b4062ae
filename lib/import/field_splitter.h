// Splits a line into its fields.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "import/input_format.h"

namespace octavo {

// The fields of one line. Views into the line, or into `unescaped` where CSV quotes were taken off.
struct Fields {
  std::array<std::string_view, kMaxColumns> values;
  std::size_t count = 0;       // kMaxColumns + 1 if there are more than fit
  std::string_view complaint;  // what is wrong with the quotes; empty if nothing is
};

// Splits `line` (without its line end) by the rules of `format`. Fields that needed unescaping are added to
// `unescaped`, whose elements never move; it may be used for many lines.
// REQUIRES: `format` is tsv, csv, blank or mtx, whose lines are fields
void SplitFields(std::string_view line, InputFormat format, Fields& fields, std::deque<std::string>& unescaped);

}  // namespace octavo
