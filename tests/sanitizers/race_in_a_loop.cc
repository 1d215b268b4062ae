// Adds to one number from every piece of a parallel loop, without a lock.

#include <cstddef>

#include "base/parallel.h"

int main() {
  std::size_t sum = 0;
  octavo::ParallelEach(0, 10000, [&](std::size_t i) { sum += i; });
  return sum == 0 ? 1 : 0;
}
