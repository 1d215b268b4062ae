#include "generate/permutation.h"

#include <algorithm>
#include <bit>

namespace octavo {

Permutation::Permutation(std::uint64_t count, RandomStream& random) : count_(count) {
  const unsigned bits = std::max(1U, static_cast<unsigned>(std::bit_width(count - 1)));
  mask_ = (std::uint64_t{1} << bits) - 1;
  shift_ = std::max(1U, bits / 2);
  for (Round& round : rounds_) round = {random.Next64() | 1U, random.Next64()};
}

std::uint64_t Permutation::operator()(std::uint64_t number) const {
  // Each step is invertible in k bits: an odd factor has an inverse, and the shift leaves the upper half unchanged,
  // which determines what was added to the lower half. A result past the end is permuted again ("cycle walking", Black
  // and Rogaway 2002): fewer than two rounds on average, and still one-to-one.
  do {
    for (const Round& round : rounds_) {
      number = (number * round.factor + round.addend) & mask_;
      number ^= number >> shift_;
    }
  } while (number >= count_);
  return number;
}

}  // namespace octavo
