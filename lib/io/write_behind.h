// Bounds the page cache of a file that is written, or read, from front to back.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "io/file.h"

namespace octavo {

// Writes back half a window at a time, and drops from the page cache what lies more than one and a half windows before
// the position. So at most about two windows stay cached, and the disk works while the program continues. One file, one
// thread at a time.
class WriteBehind {
 public:
  explicit WriteBehind(std::uint64_t window = kWindowBytes) : window_(window) {}

  // Call when everything below `end` is written. An error reports a device failure for bytes written before, e.g. a
  // full disk.
  absl::Status Advance(const File& file, std::uint64_t end);
  // Waits until everything below `end` is being written back and dropped. Not a sync: it promises nothing about a power
  // cut.
  absl::Status Finish(const File& file, std::uint64_t end);

  // Large enough for a disk's full speed, small beside any memory limit.
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{2} << 20;

 private:
  std::uint64_t window_;
  std::uint64_t started_ = 0;  // write-back was started below this offset
  std::uint64_t dropped_ = 0;  // nothing is cached below this offset
};

}  // namespace octavo
