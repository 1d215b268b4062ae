// Numbers as people write them in flags, configuration and data: the whole text must be the number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo {

// Parses a decimal whole number without sign or blanks. Empty for any other text, and on overflow.
std::optional<std::uint64_t> ParseWholeNumber(std::string_view text);

// Parses a finite decimal number ("0.5", "-3", "1e-3"). Empty for anything else, including nan, inf and overflow.
std::optional<double> ParseRealNumber(std::string_view text);

}  // namespace octavo
