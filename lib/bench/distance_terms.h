// How fast the terms of a distance are computed when nothing else has to be done: the bound of models whose scores are
// no matrix products.
#pragma once

#include <cstddef>

namespace octavo {

// Computes at least `count` terms |q - c| of floats, and their steps of both gradients, from registers to registers;
// returns how many. A whole training kernel loads and stores besides, so it is slower. Any thread.
std::size_t ComputeL1Terms(std::size_t count);

// The same for complex numbers: a term is a modulus of two floats.
std::size_t ComputeComplexL1Terms(std::size_t count);

}  // namespace octavo
