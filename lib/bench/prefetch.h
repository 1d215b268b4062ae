// What a second buffer gains: serial, double-buffered and ideal times over ratios of fetching to computing.
#pragma once

#include <vector>

namespace octavo {

struct PrefetchRow {
  double fetch_seconds = 0;    // of one item
  double compute_seconds = 0;  // of one item
  double serial_seconds = 0;   // of all items, measured
  double double_buffered_seconds = 0;
  double ideal_seconds = 0;  // the first fetch, and then the longer of the two for each item
};

// Items of 4 ms each, fetching and computing together, fetched by a wait as for a disk and computed by work. About
// `seconds` a row.
std::vector<PrefetchRow> MeasurePrefetch(double seconds);

}  // namespace octavo
