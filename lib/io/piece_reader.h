// Reads a file piece by piece through its own buffer, from the page cache or directly from the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file.h"

namespace octavo {

struct PieceOptions {
  std::size_t piece_bytes = std::size_t{1} << 20;  // at least 4,096
  // Read the disk, not the page cache: cached pages are dropped, and reads bypass the cache where the file system
  // allows. Pages not yet written back are not dropped; they are not on the disk.
  bool deep = false;
  bool drop_behind = false;  // drop what was read from the page cache
};

// Used by one thread. Holds piece_bytes and two pages.
class PieceReader {
 public:
  static absl::StatusOr<PieceReader> Open(const std::filesystem::path& path, const PieceOptions& options);

  std::uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return file_.path(); }

  // Returns bytes [begin, end), valid until the next call. Reads ahead, so ascending places are cheap. A file that ends
  // before `end` is a corrupt-file error. REQUIRES: begin <= end, end - begin <= piece_bytes
  absl::StatusOr<std::span<const std::byte>> Bytes(std::uint64_t begin, std::uint64_t end);

  // Calls `visit` for [begin, end) in order, piece by piece. Stops at the first error.
  absl::Status Read(std::uint64_t begin, std::uint64_t end,
                    const std::function<absl::Status(std::span<const std::byte>)>& visit);

 private:
  struct AlignedDelete {
    void operator()(std::byte* memory) const { ::operator delete[](memory, kAlignment); }
  };
  static constexpr std::align_val_t kAlignment{4096};

  PieceReader(File file, std::uint64_t size, const PieceOptions& options);

  File file_;
  std::uint64_t size_;
  PieceOptions options_;
  std::size_t capacity_;
  std::unique_ptr<std::byte[], AlignedDelete> buffer_;
  std::uint64_t buffer_begin_ = 0;  // offsets in the file of the buffered bytes
  std::uint64_t buffer_end_ = 0;
};

}  // namespace octavo
