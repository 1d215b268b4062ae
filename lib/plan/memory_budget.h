// How much memory a command may hold.
#pragma once

#include <cstdint>

namespace octavo {

// Returns how many bytes this process may still take: 70 % of the smaller of the machine's available memory and what
// its control groups (v2 and v1) leave. Page cache counts as free, as it does in the machine's available memory.
std::uint64_t DefaultMemoryLimit();

}  // namespace octavo
