// A pseudo-random permutation of the numbers below n that needs no memory for any n.
#pragma once

#include <array>
#include <cstdint>

#include "base/random.h"

namespace octavo {

// Constant after construction; any thread.
class Permutation {
 public:
  // The key is drawn from `random`. REQUIRES: 0 < count < 2^63
  Permutation(std::uint64_t count, RandomStream& random);

  // Returns the image of `number`, below count(). One-to-one. REQUIRES: number < count()
  std::uint64_t operator()(std::uint64_t number) const;
  std::uint64_t count() const { return count_; }

 private:
  struct Round {
    std::uint64_t factor = 1;  // odd
    std::uint64_t addend = 0;
  };

  std::uint64_t count_;
  std::uint64_t mask_;  // the smallest 2^k - 1 that is at least count - 1
  unsigned shift_;      // half of k, at least 1
  std::array<Round, 3> rounds_;
};

}  // namespace octavo
