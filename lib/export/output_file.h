// Where an export goes: a file that appears under its name when it is whole, or a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/atomic_file.h"
#include "io/compressed_output.h"
#include "io/file.h"
#include "io/write_behind.h"

namespace octavo {

// Written front to back by one owner. "-" is standard output; a pipe or device that stands at the path is written to as
// it is; anything else is written to a file of its own beside it, a PartialName (io/atomic_file.h), and takes its
// place at Commit. Destroyed without Commit it leaves the old file, if there was one, and removes the partial one; what
// a process that was killed has left the next one removes.
//
// With a compression, what is appended is compressed on TBB: every 256 KiB are a gzip member or zstd frame of their
// own, so that the bytes depend on what was appended alone, and not on its pieces.
class OutputFile {
 public:
  // What an output that is compressed holds: a batch of pieces, what becomes of them, and the work of the libraries on
  // each (1.5 MiB for zstd's default level).
  static constexpr std::uint64_t kCompressionBytes = 16 << 20;

  // A folder at `path`, or none to hold it, is a usage error.
  static absl::StatusOr<OutputFile> Open(const std::string& path, Compression compression = Compression::kNone);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  ~OutputFile();

  // What messages call it.
  const std::string& name() const { return name_; }
  bool compressed() const { return compression_ != Compression::kNone; }
  // Whether a file that was there when it was opened gives way to it.
  bool replaces() const { return replaces_; }
  // As they went out, which those of a compressed output do in batches, the last at Commit.
  std::uint64_t bytes_written() const { return bytes_; }

  // A reader of the pipe that left is an error. REQUIRES: the program ignores SIGPIPE
  absl::Status Append(std::span<const std::byte> bytes);
  absl::Status Append(std::string_view text) { return Append(std::as_bytes(std::span<const char>(text))); }
  // From here on a file is written out to the disk as it grows, `window_bytes` at a time, and at most about two windows
  // of it stand in the page cache. For files larger than the memory that may be held; they take the disk's time.
  void WriteBehind(std::uint64_t window_bytes) { behind_.emplace(window_bytes); }
  // Syncs and renames. Nothing may be appended afterwards.
  absl::Status Commit();
  // The same of files that belong together: none takes its place before all are whole on the disk. Then each does, in
  // this order.
  static absl::Status CommitAll(std::span<OutputFile* const> files);

  // Removes the partial files of all outputs there are, for a program that ends without their destructors. Any thread.
  static void RemovePartialFiles();

 private:
  explicit OutputFile(std::string name) : name_(std::move(name)) {}
  absl::Status Write(std::span<const std::byte> bytes);
  absl::Status UnderName(const absl::Status& status) const { return UnderFinalName(status, partial_, name_); }
  absl::Status WriteToStream(std::span<const std::byte> bytes);
  // Compresses and writes what is pending.
  absl::Status Compress();
  // All is written, synced and closed, under its temporary name.
  absl::Status Finish();

  std::string name_;
  std::filesystem::path final_;    // empty for a stream
  std::filesystem::path partial_;  // empty for a stream, once committed, or moved from
  std::optional<PathLock> lock_;   // of the partial file, as long as somebody works on it
  File file_;                      // of a regular file
  int stream_ = -1;                // descriptor of a stream
  bool owns_stream_ = false;
  bool replaces_ = false;
  std::uint64_t bytes_ = 0;
  Compression compression_ = Compression::kNone;
  std::string pending_;                        // not yet compressed
  std::optional<octavo::WriteBehind> behind_;  // empty: the kernel writes out when it likes
};

}  // namespace octavo
