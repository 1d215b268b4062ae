// Zipf's law: rank i of n, counted from 0, has a probability proportional to 1 / (i + 1).
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace octavo {

// Constant after construction; any thread. Needs O(log n) memory and a constant number of draws on average.
class Zipf {
 public:
  // REQUIRES: 0 < count < 2^48
  explicit Zipf(std::uint64_t count);

  std::uint64_t count() const { return count_; }
  // Returns a rank below count().
  std::uint64_t Draw(RandomStream& random) const;

 private:
  std::uint64_t count_;
  // Octave k holds the numbers [2^k, 2^(k + 1)), counted from 1. It is drawn when a random 32-bit word is in [ends_[k -
  // 1], ends_[k]).
  std::vector<std::uint64_t> ends_;
};

}  // namespace octavo
