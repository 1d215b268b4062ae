// Counts as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo {

// "1 edge", "0 edges", "12 batches": the count and the noun. Appends s, or es after tch and ss, unless the count is 1.
std::string CountText(std::uint64_t count, std::string_view noun);

}  // namespace octavo
