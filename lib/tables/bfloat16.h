// Rows stored as bf16 words, the upper 16 bits of a float32 (format/npy_header.h), and what makes the one of the other.
//
// A word keeps 8 bits of a value. An update smaller than half its last place would be lost by rounding to the nearest,
// each time anew; rounded by chance, up with the probability of what lies above the lower neighbour, the stored value
// is right in the mean (Gupta et al., "Deep learning with limited numerical precision", ICML 2015).
//
// Pure. No rounding makes an infinity of a finite value: what lies beyond the largest finite word becomes that word.
// Infinities and NaNs stay what they are.
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"

namespace octavo {

// Makes floats of words, exactly. `words` may lie in the last half of the memory of `out`, and then is overwritten.
// REQUIRES: as many of both, here and below
void Widen(std::span<const std::uint16_t> words, std::span<float> out);

// The reverse, for values that Widen made: their words, bit by bit.
void TakeWords(std::span<const float> widened, std::span<std::uint16_t> words);

// Rounds to the nearest word, ties to the even one.
void RoundToNearest(std::span<const float> row, std::span<std::uint16_t> words);

// What the chances of a rounding are drawn from: the same place gives the same words. A row must not be rounded twice
// in a step, or its errors would be of one sign.
struct RowRounding {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  // its low 32 bits count
};

// Rounds by chance: up by one word with probability (value - lower) / (upper - lower), where both are neighbours of the
// value and `upper` is the one further from 0; drawn as 16 bits, which is exact.
//
// The draws are the 16-bit halves of the words of RandomStream(seed, kRounding, step, node), eight a block of it. With
// B = row.size() / 8 blocks, element i < 8 B has of block i % (2 B) / 2
//   i / (2 B) = 0 or 1: the low or high half of word i % 2;  2 or 3: the low or high half of word 2 + i % 2
// and element 8 B + k the k-th half of block B, low ones first. So vectors of any width meet their draws in order.
void RoundStochastically(const RowRounding& rounding, NodeId node, std::span<const float> row,
                         std::span<std::uint16_t> words);

}  // namespace octavo
