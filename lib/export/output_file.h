// The output of an export: a file that is replaced atomically, or a stream.
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

// Written front to back by one owner. "-" is standard output. A pipe or device at the path is written directly.
// Anything else goes to a separate file beside it, a PartialName (io/atomic_file.h), which Commit renames to the path.
// Without Commit the destructor keeps the old file, if any, and removes the partial one. Leftovers of a killed process
// are removed by the next output.
//
// With a compression, appended data is compressed on TBB: every 256 KiB are a separate gzip member or zstd frame, so
// the bytes depend only on the data, not on how it was divided into calls.
class OutputFile {
 public:
  // Memory of a compressed output: a batch of pieces, their results, and the libraries' work memory for each (1.5 MiB
  // for zstd's default level).
  static constexpr std::uint64_t kCompressionBytes = 16 << 20;

  // A folder at `path`, or a missing parent folder, is a usage error.
  static absl::StatusOr<OutputFile> Open(const std::string& path, Compression compression = Compression::kNone);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  ~OutputFile();

  // The output's name for messages.
  const std::string& name() const { return name_; }
  bool compressed() const { return compression_ != Compression::kNone; }
  // Whether it replaces a file that existed when it was opened.
  bool replaces() const { return replaces_; }
  // Bytes written so far. Compressed outputs write in batches, the last one at Commit.
  std::uint64_t bytes_written() const { return bytes_; }

  // An error if the reader of a pipe has closed it. REQUIRES: the program ignores SIGPIPE
  absl::Status Append(std::span<const std::byte> bytes);
  absl::Status Append(std::string_view text) { return Append(std::as_bytes(std::span<const char>(text))); }
  // From now on, writes a file back to the disk as it grows, `window_bytes` at a time, so that at most about two
  // windows of it are in the page cache. For files larger than the memory limit; writing then runs at the disk's speed.
  void WriteBehind(std::uint64_t window_bytes) { behind_.emplace(window_bytes); }
  // Syncs and renames. Nothing may be appended afterwards.
  absl::Status Commit();
  // Commits files that belong together: no file is renamed before all are complete on the disk. They are then renamed
  // in this order.
  static absl::Status CommitAll(std::span<OutputFile* const> files);

  // Removes the partial files of all existing outputs, for a program that exits without running destructors. Any
  // thread.
  static void RemovePartialFiles();

 private:
  explicit OutputFile(std::string name) : name_(std::move(name)) {}
  absl::Status Write(std::span<const std::byte> bytes);
  absl::Status UnderName(const absl::Status& status) const { return UnderFinalName(status, partial_, name_); }
  absl::Status WriteToStream(std::span<const std::byte> bytes);
  // Compresses and writes the pending data.
  absl::Status Compress();
  // Writes, syncs and closes the file under its temporary name.
  absl::Status Finish();

  std::string name_;
  std::filesystem::path final_;    // empty for a stream
  std::filesystem::path partial_;  // empty for a stream, after Commit, and when moved from
  std::optional<PathLock> lock_;   // of the partial file, while it is in use
  File file_;                      // of a regular file
  int stream_ = -1;                // descriptor of a stream
  bool owns_stream_ = false;
  bool replaces_ = false;
  std::uint64_t bytes_ = 0;
  Compression compression_ = Compression::kNone;
  std::string pending_;                        // not yet compressed
  std::optional<octavo::WriteBehind> behind_;  // empty: the kernel decides when to write back
};

}  // namespace octavo
