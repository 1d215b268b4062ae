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

// What an input may take beside its buffers.
struct InputLimits {
  std::uint64_t window_bytes = std::uint64_t{128} << 20;  // of a zstd frame; rounded down to a power of two
  // Regular files above it are dropped from the page cache behind the position.
  std::uint64_t max_cached_bytes = UINT64_MAX;
};

// One reader; not for concurrent use.
class CompressedInput {
 public:
  virtual ~CompressedInput() = default;

  // Opens `path`, or standard input for "-". The first bytes, not the name, tell the compression. A folder or a missing
  // file is a usage error. `stop`, if there is one, is asked before every read and ten times a second while one waits;
  // when it says true, Open and Read give up with absl::CancelledError. A zstd frame whose window is above the limit is
  // a usage error when it is reached.
  static absl::StatusOr<std::unique_ptr<CompressedInput>> Open(const std::string& path,
                                                               std::function<bool()> stop = nullptr,
                                                               const InputLimits& limits = {});

  // Fills `buffer` as far as the input goes and returns the bytes written; less than all of it only at the end. A
  // truncated or damaged gzip or zstd stream, or bytes behind its end that are no further member or frame, is an input
  // error that names the file and the compressed byte offset. REQUIRES: no earlier Read failed
  virtual absl::StatusOr<std::size_t> Read(std::span<char> buffer) = 0;

  // What messages call the input: the path, or "<stdin>".
  virtual const std::string& name() const = 0;

  // Compressed bytes read so far, for progress against the file's size. Any thread.
  virtual std::uint64_t compressed_bytes_read() const = 0;
};

}  // namespace octavo
