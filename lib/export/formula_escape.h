// Names that a spreadsheet would take for formulas.
#pragma once

#include <string>
#include <string_view>

namespace octavo {

// Returns a name that begins with =, +, -, @, a tab or a carriage return with an apostrophe before it, so that a
// spreadsheet that opens the file shows it as text; any other name unchanged.
std::string EscapeFormula(std::string_view name);

}  // namespace octavo
