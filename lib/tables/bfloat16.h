// Converts rows between float32 and bf16 words, the upper 16 bits of a float32 (format/npy_header.h).
//
// A word keeps 8 bits of a value. Rounding to the nearest would lose every update that is smaller than half the last
// place. Stochastic rounding rounds up with a probability proportional to the distance from the lower neighbour, so the
// stored value is right in expectation (Gupta et al., "Deep learning with limited numerical precision", ICML 2015).
//
// Pure. No rounding turns a finite value into an infinity: a value beyond the largest finite word becomes that word.
// Infinities and NaNs are kept.
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"

namespace octavo {

// Converts words to floats, exactly. `words` may lie in the last half of the memory of `out`, and then is overwritten.
// REQUIRES: both spans have the same size, here and below
void Widen(std::span<const std::uint16_t> words, std::span<float> out);

// The reverse, for values that Widen made: their words, bit by bit.
void TakeWords(std::span<const float> widened, std::span<std::uint16_t> words);

// Rounds to the nearest word, ties to the even one.
void RoundToNearest(std::span<const float> row, std::span<std::uint16_t> words);

// Seeds the draws of a stochastic rounding: the same values give the same words. A row must not be rounded twice in one
// step, or both errors would have the same sign.
struct RowRounding {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  // its low 32 bits count
};

// Stochastic rounding: rounds up by one word with probability (value - lower) / (upper - lower). Both are the
// neighbours of the value, and `upper` is further from 0. Drawing 16 bits gives this probability exactly.
//
// The draws are the 16-bit halves of the words of RandomStream(seed, kRounding, step, node), eight per block. With B =
// row.size() / 8 blocks, element i < 8 B uses of block i % (2 B) / 2
//   i / (2 B) = 0 or 1: the low or high half of word i % 2;  2 or 3: the low or high half of word 2 + i % 2
// and element 8 B + k uses the k-th half of block B, low halves first. So vectors of any width use their draws in
// order.
void RoundStochastically(const RowRounding& rounding, NodeId node, std::span<const float> row,
                         std::span<std::uint16_t> words);

}  // namespace octavo
