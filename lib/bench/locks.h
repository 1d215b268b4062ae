// Measures the cost of row locks: none, stripes, and one lock for all, by threads and skew.
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

// An upper bound for the locks' share of a training: ComplEx with the defaults of octavo train. Rows are in random
// order here. A training has them sorted, and a row mostly finds the lock of the previous row in the cache.
struct LockShare {
  double seconds_a_row = 0;  // of one thread: default stripes minus no locks; 0 if not measurable
  // Updated rows: the edge's two nodes, and its share of the chunk's negatives. Twice that in `async`, where reads lock
  // too.
  double locked_rows_an_edge = 0;
  double seconds_an_edge = 0;  // of one thread: only scores, loss and gradients
  double of_training = 0;      // relative to the sum of the above, so slightly too high
};

struct LockReport {
  std::vector<LockRate> rates;
  LockShare share;
};

// Measures updates of 512-byte rows at random places of a 256 MiB table: a gradient is added to a row under its
// exclusive lock. Without locks each thread has its own rows. On 1, 2, 4, ... up to `threads` threads; about `seconds`
// per figure.
LockReport MeasureLocks(int threads, double seconds);

}  // namespace octavo
