// Numbers as people write them in flags, configuration and data: the whole text must be the number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo {

// A decimal whole number without sign, blanks or anything behind it; empty otherwise or where it does not fit.
std::optional<std::uint64_t> ParseWholeNumber(std::string_view text);

// A finite decimal number ("0.5", "-3", "1e-3"); empty for anything else, nan, inf and overflow among it.
std::optional<double> ParseRealNumber(std::string_view text);

}  // namespace octavo
