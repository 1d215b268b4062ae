// How much memory a command may hold.
#pragma once

#include <cstdint>

namespace octavo {

// Bytes that this process may still take: 70 % of the least of the machine's available memory and what the limits of
// its control groups (v2 and v1) leave. Page cache counts as free, as it does in the machine's available memory.
std::uint64_t DefaultMemoryLimit();

}  // namespace octavo
