#include "io/disk_probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <system_error>
#include <utility>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::size_t kStepBytes = std::size_t{8} << 20;
constexpr std::size_t kPageBytes = 4096;

// The buffer of one step, in huge pages like the tables: a direct transfer of small pages takes twice as long.
class Buffer {
 public:
  static absl::StatusOr<Buffer> Make() {
    void* mapping = ::mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return ErrnoError("memory for a step of the disk probe", errno);
    Buffer buffer(mapping);
    static_cast<void>(::madvise(mapping, kMappedBytes, MADV_HUGEPAGE));
    std::ranges::fill(buffer.First(kStepBytes), std::byte{0x5a});
    return buffer;
  }
  ~Buffer() {
    if (mapping_ != nullptr) ::munmap(mapping_, kMappedBytes);
  }
  Buffer(Buffer&& other) noexcept : mapping_(std::exchange(other.mapping_, nullptr)) {}
  Buffer& operator=(Buffer&&) = delete;

  std::span<std::byte> First(std::size_t bytes) const {
    const std::uint64_t begin = RoundUp(reinterpret_cast<std::uintptr_t>(mapping_), kHugePageBytes);
    return {reinterpret_cast<std::byte*>(begin), bytes};
  }

 private:
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
  static constexpr std::size_t kMappedBytes = kStepBytes + kHugePageBytes;
  explicit Buffer(void* mapping) : mapping_(mapping) {}
  void* mapping_;
};

// Calls `transfer(offset, step)` for all of [0, bytes) and returns bytes per second.
template <typename Transfer>
absl::StatusOr<double> Rate(std::uint64_t bytes, const std::function<bool()>& stop, const Transfer& transfer) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t at = 0; at < bytes; at += kStepBytes) {
    if (stop && stop()) return absl::CancelledError("interrupted");
    RETURN_IF_ERROR(transfer(at, std::min<std::uint64_t>(kStepBytes, bytes - at)));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return static_cast<double>(bytes) / std::max(seconds, 1e-9);
}

// The median of a few, because the first sync may have older work to do.
absl::StatusOr<double> SyncSeconds(File& file, std::span<const std::byte> page) {
  std::array<double, 5> seconds{};
  for (double& each : seconds) {
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(file.WriteAt(0, page));
    RETURN_IF_ERROR(file.Sync());
    each = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

}  // namespace

absl::StatusOr<DiskRates> ProbeDisk(const std::filesystem::path& folder, std::uint64_t bytes,
                                    const std::function<bool()>& stop) {
  bytes = RoundUp(bytes, kPageBytes);
  const std::filesystem::path path = folder / fmt::format(".octavo-probe-{}", ::getpid());
  ASSIGN_OR_RETURN(File file, File::CreateNew(path));
  ::unlink(path.c_str());  // the descriptor keeps the file; a kill leaves nothing
  RETURN_IF_ERROR(file.Allocate(bytes));
  file.UseDirect();
  ASSIGN_OR_RETURN(const Buffer buffer, Buffer::Make());
  DiskRates rates;
  ASSIGN_OR_RETURN(rates.write, Rate(bytes, stop, [&](std::uint64_t at, std::size_t step) -> absl::Status {
                     RETURN_IF_ERROR(file.WriteAt(at, buffer.First(step)));
                     return at + step == bytes ? file.Sync() : absl::OkStatus();
                   }));
  ASSIGN_OR_RETURN(rates.sync, SyncSeconds(file, buffer.First(kPageBytes)));
  file.DropCache(0, bytes);
  ASSIGN_OR_RETURN(rates.read, Rate(bytes, stop, [&](std::uint64_t at, std::size_t step) {
                     return file.ReadAt(at, buffer.First(step));
                   }));
  return rates;
}

bool TakesDirectTransfers(std::filesystem::path folder) {
  folder = folder.empty() ? "." : std::filesystem::absolute(folder);
  std::error_code error;
  while (!std::filesystem::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  // An unnamed file: closing it removes it.
  const int descriptor = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_DIRECT | O_CLOEXEC, 0600);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0 || errno != EINVAL;  // the error of O_DIRECT; O_TMPFILE has others
}

}  // namespace octavo
