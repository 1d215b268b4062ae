// A whole file, mapped read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "io/file.h"
#include "io/mapped_range.h"

namespace octavo {

// Constant after Open; any thread. Accessing a page that cannot be read raises SIGBUS (io/mapped_range.h).
class FileMapping {
 public:
  // Maps all of `file`, which must stay open as long as the mapping exists; an empty file gets no mapping. Accesses
  // read single pages, without read-ahead, because lookups are random. Callers that read in order call WillRead.
  static absl::StatusOr<FileMapping> Open(const File& file);

  FileMapping() = default;
  FileMapping(FileMapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        range_(std::move(other.range_)) {}
  FileMapping& operator=(FileMapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(range_, other.range_);
    return *this;
  }
  ~FileMapping();

  bool is_open() const { return data_ != nullptr; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

  // Both take the range [begin, end), clamped to the file. They are advice and cannot fail.
  void WillRead(std::uint64_t begin, std::uint64_t end) const;
  // Mapped pages stay in the page cache: call this before File::DropBehind.
  void LetGo(std::uint64_t begin, std::uint64_t end) const;

 private:
  FileMapping(void* data, std::size_t size, MappedRange range) : data_(data), size_(size), range_(std::move(range)) {}
  void Advise(std::uint64_t begin, std::uint64_t end, int advice) const;

  void* data_ = nullptr;
  std::size_t size_ = 0;
  MappedRange range_;
};

}  // namespace octavo
