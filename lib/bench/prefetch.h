// Measures the gain of a second buffer: serial, double-buffered and ideal times for ratios of fetching to computing.
#pragma once

#include <vector>

namespace octavo {

struct PrefetchRow {
  double fetch_seconds = 0;    // of one item
  double compute_seconds = 0;  // of one item
  double serial_seconds = 0;   // of all items, measured
  double double_buffered_seconds = 0;
  double ideal_seconds = 0;  // the first fetch, then for each item the longer of the two
};

// Items of 4 ms each for fetching and computing together. Fetching is a wait, as for a disk; computing is work. About
// `seconds` per row.
std::vector<PrefetchRow> MeasurePrefetch(double seconds);

}  // namespace octavo
