// Temporary files of an import, or of another command that makes a graph, whose data does not fit its memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "base/status.h"
#include "io/file.h"
#include "io/write_behind.h"

namespace octavo {

// State shared by the temporary files of one command: how much they take, for messages and the summary. Any thread.
struct SpillUse {
  std::string_view work = "import";  // for messages; constant
  std::function<bool()> stop;        // may be empty; constant. When true, writes end with absl::CancelledError
  std::atomic<std::uint64_t> written_bytes = 0;
  std::atomic<std::uint64_t> expected_bytes = 0;  // of the whole command, as far as known; 0: not yet
};

// Bytes [begin, end) of a spill file.
struct SpillExtent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// An unnamed file: it disappears when it is closed, however the process ends. Its page cache is bounded.
class SpillFile {
 public:
  // The file is made at `path`, which messages name. `use` must outlive the file.
  static absl::StatusOr<std::unique_ptr<SpillFile>> Create(const std::filesystem::path& path, SpillUse& use);

  // Appends `bytes` as one piece. Any thread. On a full disk the error says how much space is needed.
  absl::Status Append(std::span<const std::byte> bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends a phase of writing. Reads follow; more may be appended later.
  absl::Status FinishWriting() ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Reads exactly bytes.size() bytes at `offset` and drops them from the page cache. Any thread.
  absl::Status ReadOnce(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  SpillFile(File file, SpillUse& use) : file_(std::move(file)), use_(use) {}
  absl::Status Explain(const absl::Status& status) const;

  File file_;
  SpillUse& use_;
  mutable Mutex mutex_;
  WriteBehind behind_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t size_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Appends one extent through a buffer. One thread, and nothing else may append at the same time. `file` must outlive
// it.
class SpillWriter {
 public:
  SpillWriter(SpillFile& file, std::size_t buffer_bytes) : file_(file), begin_(file.size()), room_(buffer_bytes) {
    buffer_.reserve(buffer_bytes);
  }

  absl::Status Append(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > room_) RETURN_IF_ERROR(Flush());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  // Returns the extent. Call it once, last.
  absl::StatusOr<SpillExtent> Finish() {
    RETURN_IF_ERROR(Flush());
    return SpillExtent{.begin = begin_, .end = file_.size()};
  }

 private:
  absl::Status Flush();

  SpillFile& file_;
  const std::uint64_t begin_;
  const std::size_t room_;
  std::vector<std::byte> buffer_;
};

// Reads an extent from front to back through a buffer. One thread. `file` must outlive it.
class SpillReader {
 public:
  SpillReader(const SpillFile& file, SpillExtent extent, std::size_t buffer_bytes)
      : file_(file), next_(extent.begin), end_(extent.end), buffer_(buffer_bytes) {}

  // Returns the buffered bytes: at least `bytes` of them, or the rest of the extent. Valid until the next call.
  // REQUIRES: bytes <= buffer_bytes
  absl::StatusOr<std::span<const std::byte>> Peek(std::size_t bytes);
  // REQUIRES: bytes <= what Peek returned
  void Consume(std::size_t bytes) { first_ += bytes; }

 private:
  const SpillFile& file_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::vector<std::byte> buffer_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;  // buffer_[first_, last_) holds the buffered bytes
};

}  // namespace octavo
