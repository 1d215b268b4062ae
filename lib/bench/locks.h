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

// What the locks take of a training at most: ComplEx with the defaults of octavo train. Rows come in random order here,
// sorted there, where a row mostly finds the lock of the one before it in the cache.
struct LockShare {
  double seconds_a_row = 0;  // of a thread: with the default stripes, less without locks; 0 where it is not seen
  // Updated: its two nodes, and its share of the chunk's negatives. In `async` twice that, where reads lock, too.
  double locked_rows_an_edge = 0;
  double seconds_an_edge = 0;  // of a thread: scores, loss and gradients alone
  double of_training = 0;      // of all of these, so a bit more than of the whole training
};

struct LockReport {
  std::vector<LockRate> rates;
  LockShare share;
};

// Updates of rows of 512 bytes at random places of a 256 MiB table: a gradient is added to a row under its exclusive
// lock. Without locks each thread has rows of its own. On one thread, two, four and so on up to `threads`; about
// `seconds` a figure.
LockReport MeasureLocks(int threads, double seconds);

}  // namespace octavo
