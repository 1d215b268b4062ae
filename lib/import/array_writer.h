// Writes files of a graph folder from front to back: text, and arrays of 64-bit integers. Through buffers; what is
// written does not fill the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/array_header.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/write_behind.h"

namespace octavo {

// A file that is appended to. One owner, one thread.
class AppendedFile {
 public:
  // Appends from byte `begin` on.
  AppendedFile(File file, std::uint64_t begin) : file_(std::move(file)), end_(begin) {}

  absl::Status Append(std::span<const std::byte> bytes);
  absl::Status Append(std::string_view text) { return Append(std::as_bytes(std::span<const char>(text))); }
  File& file() { return file_; }
  // What was appended, with `begin`.
  std::uint64_t size() const { return end_ + buffer_.size(); }
  // Call it once, last.
  absl::Status Close();

 private:
  absl::Status Flush();

  File file_;
  WriteBehind behind_;
  std::uint64_t end_;  // of the written bytes
  std::vector<std::byte> buffer_;
};

// An array after its header, which is written at the end. One owner, one thread.
class ArrayWriter {
 public:
  ArrayWriter(File file, ArrayKind kind, std::uint64_t hash_seed);

  absl::Status Append(std::uint64_t value);
  std::uint64_t count() const { return header_.count; }
  // Writes the header and returns it. Call it once, last.
  absl::StatusOr<ArrayHeader> Finish();

 private:
  absl::Status Flush();

  AppendedFile output_;
  ArrayHeader header_;
  std::unique_ptr<StreamingChecksum64> checksum_;
  std::vector<std::uint64_t> values_;
};

}  // namespace octavo
