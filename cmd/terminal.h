// The size of a terminal.
#pragma once

#include <cstddef>

namespace octavo {

// Returns the columns of the terminal of the descriptor; 80 if it is not a terminal or does not know.
std::size_t TerminalColumns(int descriptor);

// Returns the columns for text on standard output: COLUMNS if it is set to a number from 40, otherwise those of the
// terminal, at most 120, because longer lines are hard to read.
std::size_t TextColumns();

}  // namespace octavo
