// What octavo --version prints.
#pragma once

#include <string>

namespace octavo {

// "octavo X.Y.Z", then a line each: the commit, the compiler, SIMD targets, the GEMM library, other libraries.
std::string VersionText();

}  // namespace octavo
