// The inner product of two rows, for the processor at hand.
#pragma once

#include <cstddef>

namespace octavo {

// Pure; any thread. The bits depend on the rows and on the kind of processor. a, b: [n]
float InnerProduct(const float* a, const float* b, std::size_t n);

}  // namespace octavo
