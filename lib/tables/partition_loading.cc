#include "tables/partition_loading.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <vector>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"

namespace octavo {
namespace {

// Memory is allocated, read into and checksummed in steps of this size, while it is in the processor's caches. At most
// two steps of a file are in the page cache at a time.
constexpr std::uint64_t kStepBytes = std::uint64_t{8} << 20;
std::span<std::byte> StepAt(const PartitionPlace& place, std::uint64_t at) {
  at = std::min<std::uint64_t>(at, place.memory.size());
  return place.memory.subspan(at, std::min<std::uint64_t>(kStepBytes, place.memory.size() - at));
}

absl::Status OutOfMemory(const PartitionPlace& place, int error_number) {
  return ErrnoError(fmt::format("{}: {} bytes of memory for the rows from byte {} on", place.file.path().string(),
                                place.memory.size(), place.offset),
                    error_number);
}

// Makes the pages of the range present and private, so that a lack of memory or a missing page of the file is an error
// here and no signal later. Returns 0 or the error number. Kernels before 5.14 do not have the advice. There nothing is
// mapped, and ReadPartition's reads make the pages present.
int Populate(std::span<std::byte> memory) {
  if (::madvise(memory.data(), memory.size(), MADV_POPULATE_WRITE) == 0 || errno == EINVAL) return 0;
  return errno;
}

// Returns why the pages of a mapped file, its bytes from `offset` on, could not be made present. madvise only says that
// one of them is not available; a read says which one and why.
absl::Status PopulateError(const PartitionPlace& place, std::uint64_t offset, std::uint64_t bytes, int error_number) {
  if (error_number != EFAULT) return OutOfMemory(place, error_number);
  std::vector<std::byte> piece(std::uint64_t{64} << 10);
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece.size(), bytes - at));
    RETURN_IF_ERROR(place.file.ReadCachedAt(offset + at, piece));
  }
  return RuntimeError(fmt::format("{}: {} bytes from byte {} on could not be mapped, though they can be read",
                                  place.file.path().string(), bytes, offset));
}

absl::Status MapFile(const PartitionPlace& place, int advice) {
  void* const mapped = ::mmap(place.memory.data(), place.memory.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                              place.file.descriptor(), static_cast<off_t>(place.offset));
  if (mapped == MAP_FAILED) return OutOfMemory(place, errno);
  static_cast<void>(::madvise(mapped, place.memory.size(), advice));  // best effort
  return absl::OkStatus();
}

// Makes every page of a mapped partition a private copy, in order, and drops the clean pages from the page cache.
absl::StatusOr<std::uint64_t> CopyPages(const PartitionPlace& place, bool wants_checksum) {
  StreamingChecksum64 checksum;
  place.file.WillRead(place.offset, StepAt(place, 0).size());
  for (std::uint64_t at = 0; at < place.memory.size(); at += kStepBytes) {
    const std::span<std::byte> step = StepAt(place, at);
    // The disk reads the next step while this one is copied and checksummed.
    place.file.WillRead(place.offset + at + step.size(), StepAt(place, at + step.size()).size());
    if (const int error_number = Populate(step); error_number != 0) {
      return PopulateError(place, place.offset + at, step.size(), error_number);
    }
    if (wants_checksum) checksum.Update(step);
    place.file.DropBehind(place.offset + at, step.size());
  }
  return wants_checksum ? checksum.Digest() : 0;
}

}  // namespace

std::string_view LoadingName(Loading loading) {
  return loading == Loading::kMapped ? "mapped" : loading == Loading::kPopulated ? "populated" : "direct";
}

bool CanMapTables() { return ::madvise(nullptr, 0, MADV_POPULATE_WRITE) == 0; }

absl::Status MapPartition(const PartitionPlace& place) {
  // Training accesses rows at random. With read-ahead, each access would read hundreds of kilobytes or more around it.
  // The sequential read of tables/mapped_checks.h brings the pages into the cache sooner.
  return MapFile(place, MADV_RANDOM);
}

absl::StatusOr<std::uint64_t> PopulatePartition(const PartitionPlace& place, bool wants_checksum) {
  RETURN_IF_ERROR(MapFile(place, MADV_SEQUENTIAL));
  return CopyPages(place, wants_checksum);
}

absl::StatusOr<std::uint64_t> ReadPartition(const PartitionPlace& place, bool wants_checksum) {
  void* const mapped = ::mmap(place.memory.data(), place.memory.size(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (mapped == MAP_FAILED) return OutOfMemory(place, errno);
  static_cast<void>(::madvise(mapped, place.memory.size(), MADV_HUGEPAGE));  // best effort
  // While the disk reads one step, another thread, if one is available, allocates the memory of the next step and
  // checksums the previous one.
  StreamingChecksum64 checksum;
  if (const int error_number = Populate(StepAt(place, 0)); error_number != 0) return OutOfMemory(place, error_number);
  std::span<std::byte> before;
  for (std::uint64_t at = 0; at < place.memory.size(); at += kStepBytes) {
    std::future<int> beside = std::async([&checksum, before, next = StepAt(place, at + kStepBytes)] {
      checksum.Update(before);
      return next.empty() ? 0 : Populate(next);
    });
    RETURN_IF_ERROR(place.file.ReadAt(place.offset + at, StepAt(place, at)));
    if (const int error_number = beside.get(); error_number != 0) return OutOfMemory(place, error_number);
    if (wants_checksum) before = StepAt(place, at);
  }
  checksum.Update(before);
  return wants_checksum ? checksum.Digest() : 0;
}

absl::Status MakePrivate(const PartitionPlace& place) {
  // Pages that were not touched must be read now, and in order.
  static_cast<void>(::madvise(place.memory.data(), place.memory.size(), MADV_SEQUENTIAL));
  return CopyPages(place, /*wants_checksum=*/false).status();
}

void ReleaseMemory(std::span<std::byte> memory) {
  if (memory.empty()) return;
  // Replaces the pages by inaccessible ones atomically: the range is never free for other mappings.
  ::mmap(memory.data(), memory.size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace octavo
