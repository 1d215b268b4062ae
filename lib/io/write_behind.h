// Bounds the page cache of a file that is written, or read, from front to back.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "io/file.h"

namespace octavo {

// Writes back what was written, half a window at a time, and drops it from the page cache, one and a half behind the
// position: at most about two windows stay cached, and the disk works while the program goes on. One file, one thread
// at a time.
class WriteBehind {
 public:
  explicit WriteBehind(std::uint64_t window = kWindowBytes) : window_(window) {}

  // Everything below `end` is written. An error is one of the device for bytes written before, such as a full disk.
  absl::Status Advance(const File& file, std::uint64_t end);
  // Waits until all below `end` is on its way out of the cache. Not a sync: it promises nothing about a power cut.
  absl::Status Finish(const File& file, std::uint64_t end);

  // Large enough for a disk's full speed, small beside any memory limit.
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{2} << 20;

 private:
  std::uint64_t window_;
  std::uint64_t started_ = 0;  // below it the write-back was started
  std::uint64_t dropped_ = 0;  // below it nothing is cached any more
};

}  // namespace octavo
