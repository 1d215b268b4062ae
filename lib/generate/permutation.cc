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
  // Each step can be undone in k bits: an odd factor has an inverse, and the upper half, which the shift leaves alone,
  // tells what was added to the lower one. A result past the end goes round again, fewer than two times on average:
  // along its cycle some number below count comes, and for each only one ("cycle walking", Black and Rogaway 2002).
  do {
    for (const Round& round : rounds_) {
      number = (number * round.factor + round.addend) & mask_;
      number ^= number >> shift_;
    }
  } while (number >= count_);
  return number;
}

}  // namespace octavo
