// The output of octavo --version.
#pragma once

#include <string>

namespace octavo {

// "octavo X.Y.Z", then one line each: the commit, the compiler, SIMD targets, the GEMM library, other libraries.
std::string VersionText();

}  // namespace octavo
