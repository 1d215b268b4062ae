// Counts as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo {

// "1 edge", "0 edges", "12 batches": the count and the noun, with s or behind tch es unless there is one of it.
std::string CountText(std::uint64_t count, std::string_view noun);

}  // namespace octavo
