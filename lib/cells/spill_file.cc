#include "cells/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/byte_size.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<SpillFile>> SpillFile::Create(const std::filesystem::path& path, SpillUse& use) {
  ASSIGN_OR_RETURN(File file, File::CreateNew(path));
  RETURN_IF_ERROR(RemoveFile(path));
  return std::unique_ptr<SpillFile>(new SpillFile(std::move(file), use));
}

absl::Status SpillFile::Append(std::span<const std::byte> bytes) {
  if (use_.stop && use_.stop()) return absl::CancelledError("interrupted");
  const MutexLock lock(mutex_);
  absl::Status status = file_.WriteAt(size_, bytes);
  if (status.ok()) status = behind_.Advance(file_, size_ + bytes.size());
  if (!status.ok()) return Explain(status);
  size_ += bytes.size();
  use_.written_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status SpillFile::FinishWriting() {
  const MutexLock lock(mutex_);
  if (absl::Status status = behind_.Finish(file_, size_); !status.ok()) return Explain(status);
  // No read-ahead: its pages would arrive after ReadOnce has dropped the cache. The reads are large enough anyway.
  ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_RANDOM);
  return absl::OkStatus();
}

std::uint64_t SpillFile::size() const {
  const MutexLock lock(mutex_);
  return size_;
}

absl::Status SpillFile::ReadOnce(std::uint64_t offset, std::span<std::byte> bytes) const {
  RETURN_IF_ERROR(file_.ReadAt(offset, bytes));
  // From the start of the page: the kernel ignores partial pages in this advice.
  const std::uint64_t begin = offset / kPageBytes * kPageBytes;
  file_.DropCache(begin, offset - begin + bytes.size());
  return absl::OkStatus();
}

absl::Status SpillFile::Explain(const absl::Status& status) const {
  const std::string message(MessageOf(status));
  if (message.find(std::generic_category().message(ENOSPC)) == std::string::npos) return status;
  const std::uint64_t written = use_.written_bytes.load(std::memory_order_relaxed);
  const std::uint64_t expected = use_.expected_bytes.load(std::memory_order_relaxed);
  const std::string needed = expected > written ? fmt::format("about {} in all", FormatByteSize(expected)) : "more";
  return RuntimeError(
      fmt::format("{}; the temporary files of this {} have {} and need {}; expected that much free space in the "
                  "graph's folder, or a --memory that holds the {}",
                  message, use_.work, FormatByteSize(written), needed, use_.work));
}

absl::Status SpillWriter::Flush() {
  RETURN_IF_ERROR(file_.Append(buffer_));
  buffer_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::span<const std::byte>> SpillReader::Peek(std::size_t bytes) {
  if (last_ - first_ < bytes && next_ < end_) {
    std::memmove(buffer_.data(), buffer_.data() + first_, last_ - first_);
    last_ -= first_;
    first_ = 0;
    const std::uint64_t room = std::min<std::uint64_t>(buffer_.size() - last_, end_ - next_);
    RETURN_IF_ERROR(file_.ReadOnce(next_, std::span(buffer_).subspan(last_, room)));
    next_ += room;
    last_ += room;
  }
  return std::span<const std::byte>(buffer_).subspan(first_, last_ - first_);
}

}  // namespace octavo
