#include "io/write_behind.h"

#include <fcntl.h>

#include <cerrno>

#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

absl::Status SyncRange(const File& file, std::uint64_t begin, std::uint64_t end, unsigned flags) {
  RETURN_IF_ERROR(Failpoint("file.flush"));
  if (begin == end) return absl::OkStatus();
  const int result =
      ::sync_file_range(file.descriptor(), static_cast<off_t>(begin), static_cast<off_t>(end - begin), flags);
  // File systems without it manage their cache themselves.
  if (result == 0 || errno == ENOSYS || errno == EINVAL || errno == ESPIPE) return absl::OkStatus();
  return ErrnoError(fmt::format("{}: write of {} bytes at byte {}", file.path().string(), end - begin, begin), errno);
}

}  // namespace

absl::Status WriteBehind::Advance(const File& file, std::uint64_t end) {
  // Only whole pages: one that is filled later would be written twice, the second time while everybody waits for it.
  end -= end % kPageBytes;
  if (end < started_ + window_ / 2) return absl::OkStatus();  // Finish may have ended within a page
  RETURN_IF_ERROR(SyncRange(file, started_, end, SYNC_FILE_RANGE_WRITE));
  started_ = end;
  // Drop only what was started long ago: it is likely to be written, so that nobody waits.
  const std::uint64_t kept = window_ / 2 * 3;
  if (end < dropped_ + kept + kPageBytes) return absl::OkStatus();
  const std::uint64_t before = (end - kept) / kPageBytes * kPageBytes;
  RETURN_IF_ERROR(SyncRange(file, dropped_, before,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER));
  file.DropBehind(dropped_, before - dropped_);
  dropped_ = before;
  return absl::OkStatus();
}

absl::Status WriteBehind::Finish(const File& file, std::uint64_t end) {
  RETURN_IF_ERROR(
      SyncRange(file, dropped_, end, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER));
  file.DropBehind(dropped_, end - dropped_);
  started_ = dropped_ = end;
  return absl::OkStatus();
}

}  // namespace octavo
