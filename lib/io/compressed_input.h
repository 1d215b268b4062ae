// Reads a text input, plain, gzip or zstd by its magic bytes, as a stream of decompressed bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace octavo {

// What an input may use in addition to its buffers.
struct InputLimits {
  std::uint64_t window_bytes = std::uint64_t{128}
                               << 20;  // largest window of a zstd frame; rounded down to a power of two
  // Regular files larger than this are dropped from the page cache as they are read.
  std::uint64_t max_cached_bytes = UINT64_MAX;
};

// One reader; not for concurrent use.
class CompressedInput {
 public:
  virtual ~CompressedInput() = default;

  // Opens `path`, or standard input for "-". The first bytes, not the name, determine the compression. A folder or a
  // missing file is a usage error. `stop`, if set, is called before every read and ten times a second while a read
  // waits; when it returns true, Open and Read return absl::CancelledError. A zstd frame whose window exceeds the limit
  // is a usage error when it is reached.
  static absl::StatusOr<std::unique_ptr<CompressedInput>> Open(const std::string& path,
                                                               std::function<bool()> stop = nullptr,
                                                               const InputLimits& limits = {});

  // Fills `buffer` and returns the bytes written; fewer than its size only at the end. A truncated or damaged gzip or
  // zstd stream, or trailing bytes that are no further member or frame, is an input error that names the file and the
  // compressed byte offset. REQUIRES: no earlier Read failed
  virtual absl::StatusOr<std::size_t> Read(std::span<char> buffer) = 0;

  // The input's name for messages: the path, or "<stdin>".
  virtual const std::string& name() const = 0;

  // Compressed bytes read so far, to compare with the file's size for progress. Any thread.
  virtual std::uint64_t compressed_bytes_read() const = 0;
};

}  // namespace octavo
