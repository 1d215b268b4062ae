#include "io/disk_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::size_t kStepBytes = std::size_t{8} << 20;
constexpr std::size_t kPageBytes = 4096;

// Calls `transfer(offset, step)` for all of [0, bytes) and returns bytes a second.
template <typename Transfer>
absl::StatusOr<double> Rate(std::uint64_t bytes, const Transfer& transfer) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t at = 0; at < bytes; at += kStepBytes) {
    RETURN_IF_ERROR(transfer(at, std::min<std::uint64_t>(kStepBytes, bytes - at)));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return static_cast<double>(bytes) / std::max(seconds, 1e-9);
}

}  // namespace

absl::StatusOr<DiskRates> ProbeDisk(const std::filesystem::path& folder, std::uint64_t bytes) {
  bytes = RoundUp(bytes, kPageBytes);
  const std::filesystem::path path = folder / fmt::format(".octavo-probe-{}", ::getpid());
  ASSIGN_OR_RETURN(File file, File::CreateNew(path));
  ::unlink(path.c_str());  // the descriptor keeps it; a kill leaves nothing
  RETURN_IF_ERROR(file.Allocate(bytes));
  file.UseDirect();
  const std::unique_ptr<std::byte, void (*)(void*)> buffer(
      static_cast<std::byte*>(std::aligned_alloc(kPageBytes, kStepBytes)), std::free);
  if (buffer == nullptr) return RuntimeError("out of memory");
  std::fill_n(buffer.get(), kStepBytes, std::byte{0x5a});
  DiskRates rates;
  ASSIGN_OR_RETURN(rates.write, Rate(bytes, [&](std::uint64_t at, std::size_t step) -> absl::Status {
                     RETURN_IF_ERROR(file.WriteAt(at, std::span(buffer.get(), step)));
                     return at + step == bytes ? file.Sync() : absl::OkStatus();
                   }));
  file.DropCache(0, bytes);
  ASSIGN_OR_RETURN(rates.read, Rate(bytes, [&](std::uint64_t at, std::size_t step) {
                     return file.ReadAt(at, std::span(buffer.get(), step));
                   }));
  return rates;
}

}  // namespace octavo
