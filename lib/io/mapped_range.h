// Which file is mapped where. A mapped file that somebody cuts, or whose disk fails, ends the program by SIGBUS when
// the lost page is touched; a handler of that signal finds the file's name here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

namespace octavo {

// Keeps [address, address + bytes) entered under the name of `path` as long as it lives; to be destroyed before the
// range is unmapped. There is room for 64 ranges; what comes on top is not entered. One owner.
class MappedRange {
 public:
  MappedRange() = default;
  MappedRange(const void* address, std::size_t bytes, const std::filesystem::path& path);
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

// Returns the name of the file that is mapped at `address`, escaped for messages and cut to some hundred bytes, or
// null. Takes no lock and no memory, so that a signal handler may call it; the name is valid as long as the range is
// mapped.
const char* MappedFileAt(const void* address);

}  // namespace octavo
