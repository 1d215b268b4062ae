// What the locks of rows cost: none, stripes, and one lock for all, over threads and skew.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace octavo {

struct LockRate {
  std::string locks;        // "none", "stripes" or "one"
  std::size_t stripes = 0;  // of "stripes"
  int threads = 0;
  bool skewed = false;  // rows drawn by degree as in a real graph: a few are in most updates
  double updates_per_second = 0;
};

// Updates of rows of 512 bytes at random places of a 256 MiB table: a gradient is added to a row under its exclusive
// lock. Without locks each thread has rows of its own. About `seconds` a figure.
std::vector<LockRate> MeasureLocks(int threads, double seconds);

}  // namespace octavo
