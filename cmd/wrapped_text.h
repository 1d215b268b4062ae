// Breaks the lines of help texts at words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace octavo {

// Returns `text` with lines of at most `columns` bytes where words allow it; lines after the first begin with `indent`
// spaces. `used` bytes of the first line are already taken. Line ends of the text stay. Without a line end at the end.
std::string Wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0, std::size_t used = 0);

// Returns a name in a column of `width` bytes and its text beside it, or below if the name is too long; ends with a
// line end.
std::string NameAndText(std::string_view name, std::string_view text, std::size_t width, std::size_t columns);

}  // namespace octavo
