#include "export/formula_escape.h"

namespace octavo {

std::string EscapeFormula(std::string_view name) {
  constexpr std::string_view kBeginnings = "=+-@\t\r";
  const bool formula = !name.empty() && kBeginnings.find(name.front()) != std::string_view::npos;
  std::string text;
  if (formula) text += '\'';
  text += name;
  return text;
}

}  // namespace octavo
