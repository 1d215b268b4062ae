// Records which file is mapped where. If a mapped file is truncated or its disk fails, touching the lost page raises
// SIGBUS. The handler of that signal finds the file and the byte here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

namespace octavo {

// Registers [address, address + bytes) as the bytes of a file from `offset` on during its lifetime; destroy it before
// unmapping the range. The file is `path`, open as `descriptor` all the while. There is room for 1,280 ranges, enough
// for the 512 partitions of two tables and everything else; further ones are not registered. One owner.
class MappedRange {
 public:
  MappedRange() = default;
  MappedRange(const void* address, std::size_t bytes, const std::filesystem::path& path, int descriptor,
              std::uint64_t offset);
  MappedRange(MappedRange&& other) noexcept : entry_(std::exchange(other.entry_, kNone)) {}
  MappedRange& operator=(MappedRange&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~MappedRange();

 private:
  static constexpr int kNone = -1;
  int entry_ = kNone;
};

// What is mapped at an address.
struct MappedPlace {
  const char* name = nullptr;  // of the file, escaped for messages and cut to some hundred bytes; null: no file
  int descriptor = -1;
  std::uint64_t offset = 0;  // in the file
};

// Takes no lock and allocates nothing, so a signal handler may call it. The result is valid while the range is mapped.
MappedPlace MappedPlaceAt(const void* address);

}  // namespace octavo
