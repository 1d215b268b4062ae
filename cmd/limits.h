// How much memory and how many threads a verb may use.
#pragma once

#include <cstdint>

#include "cmd/program.h"

namespace octavo {

// Returns --memory, or what the machine and its control groups leave.
std::uint64_t MemoryLimit(const Program& program);

// Returns --threads, or the number of the machine's processors.
int ThreadCount(const Program& program);

}  // namespace octavo
