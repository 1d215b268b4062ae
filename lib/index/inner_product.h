// The inner product of two rows, optimised for the current processor.
#pragma once

#include <cstddef>

namespace octavo {

// Pure; any thread. The bits depend on the rows and the kind of processor. a, b: [n]
float InnerProduct(const float* a, const float* b, std::size_t n);

}  // namespace octavo
