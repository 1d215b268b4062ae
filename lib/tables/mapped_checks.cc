#include "tables/mapped_checks.h"

#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/checksum.h"
#include "io/failpoint.h"
#include "tables/table_file.h"

namespace octavo {
namespace {

// Large enough for the disk's full speed, small relative to any memory limit.
constexpr std::uint64_t kStepBytes = std::uint64_t{4} << 20;

}  // namespace

MappedChecks::~MappedChecks() {
  stopping_.store(true, std::memory_order_relaxed);
  { const MutexLock wake(mutex_); }
  if (thread_.joinable()) thread_.join();
}

void MappedChecks::Add(Rows rows) {
  {
    const MutexLock lock(mutex_);
    queue_.push_back(std::move(rows));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

absl::Status MappedChecks::Check() const {
  // Relaxed: the mutex orders the error itself, and a flag seen late only delays it by a batch.
  if (!failed_.load(std::memory_order_relaxed)) return absl::OkStatus();
  const MutexLock lock(mutex_);
  return error_;
}

absl::Status MappedChecks::Wait() {
  const MutexLock lock(mutex_);
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return queue_.empty() || !error_.ok(); });
  return error_;
}

absl::Status MappedChecks::Compare(const Rows& rows) {
  RETURN_IF_ERROR(Failpoint("table.check"));
  StreamingChecksum64 checksum;
  std::vector<std::byte> step;
  for (std::uint64_t at = 0; at < rows.bytes && !stopping_.load(std::memory_order_relaxed); at += step.size()) {
    step.resize(std::min(kStepBytes, rows.bytes - at));
    RETURN_IF_ERROR(rows.file->ReadCachedAt(rows.offset + at, step));
    bytes_read_.fetch_add(step.size(), std::memory_order_relaxed);
    checksum.Update(step);
  }
  if (stopping_.load(std::memory_order_relaxed) || checksum.Digest() == rows.checksum) return absl::OkStatus();
  return ChecksumError(*rows.file, rows.name, rows.offset, checksum.Digest(), rows.checksum);
}

void MappedChecks::Run() {
  while (true) {
    Rows rows;
    {
      const MutexLock lock(mutex_);
      mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return stopping_.load(std::memory_order_relaxed) || (!queue_.empty() && error_.ok());
      });
      if (stopping_.load(std::memory_order_relaxed)) return;
      rows = queue_.front();
    }
    absl::Status status;
    try {  // nobody could catch an exception that leaves the thread
      status = Compare(rows);
    } catch (const std::bad_alloc&) {
      status = RuntimeError("out of memory while mapped rows are compared with their checksums");
    } catch (const std::exception& error) {
      status = RuntimeError(error.what());
    }
    const MutexLock lock(mutex_);
    queue_.pop_front();
    if (!status.ok()) {
      error_ = std::move(status);
      failed_.store(true, std::memory_order_relaxed);
    }
  }
}

}  // namespace octavo
