// Which instruction sets the kernels are compiled for, and which of them this machine runs.
#pragma once

#include <string>
#include <vector>

namespace octavo {

// Names as in Highway, the best first: "AVX3_ZEN4", "AVX2", "SSE2".
std::vector<std::string> CompiledSimdTargets();
std::string ActiveSimdTarget();

}  // namespace octavo
