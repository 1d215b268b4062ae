// Measures operator new, for tests of planned memory. Replaces the program's operator new: for the test programs of one
// folder, which list heap_peak.cc among their sources. Counts nothing under clang's thread sanitizer.
#pragma once

#include <cstdint>

namespace octavo {

// The most that was held since its construction, beyond what was held then. One at a time; all threads count.
class HeapPeak {
 public:
  HeapPeak();
  std::uint64_t bytes() const;

 private:
  std::int64_t before_;
};

}  // namespace octavo
