// What operator new has given out, for tests of what memory a plan says. Replaces the program's operator new: for the
// programs of one folder, which name heap_peak.cc among their sources. Counts nothing under clang's thread sanitizer.
#pragma once

#include <cstdint>

namespace octavo {

// How much more than at its construction was held at the most since. One at a time; the program's other threads count.
class HeapPeak {
 public:
  HeapPeak();
  std::uint64_t bytes() const;

 private:
  std::int64_t before_;
};

}  // namespace octavo
