#include "checkpoint/run_lock.h"

#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/chrono.h"
#include "fmt/format.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

// The owner writes its line just after taking the lock. Until then the file may contain the line of an earlier owner.
constexpr int kOwnerTries = 50;
constexpr std::chrono::milliseconds kOwnerWait(10);
constexpr int kOpenTries = 10;

std::string ReadOwnerLine(const File& file) {
  std::array<char, 128> text{};
  const absl::StatusOr<std::uint64_t> size = file.Size();
  const std::size_t bytes = size.ok() ? std::min<std::size_t>(*size, text.size()) : 0;
  if (!file.ReadAt(0, std::as_writable_bytes(std::span(text).first(bytes))).ok()) return "unknown";
  std::string_view line(text.data(), bytes);
  line = line.substr(0, line.find('\n'));
  return line.empty() ? "unknown" : Escape(line, text.size());
}

// Whether the line names a process that exists, as seen from this process.
bool NamesLivingProcess(std::string_view line) {
  constexpr std::string_view kBefore = "pid ";
  if (!line.starts_with(kBefore)) return false;
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(line.data() + kBefore.size(), line.data() + line.size(), pid);
  return error == std::errc() && pid > 0 && (::kill(pid, 0) == 0 || errno != ESRCH);
}

std::string OwnerLine(const File& file) {
  for (int attempt = 1;; ++attempt) {
    std::string line = ReadOwnerLine(file);
    // The owner may be in another container. After half a second its line is accepted as it is.
    if (attempt == kOwnerTries || NamesLivingProcess(line)) return line;
    std::this_thread::sleep_for(kOwnerWait);
  }
}

absl::Status LockFile(const File& file) {
  const std::filesystem::path& path = file.path();
  int result = 0;
  do {
    result = ::flock(file.descriptor(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return absl::OkStatus();
  if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL) {
    return RuntimeError(
        fmt::format("{}: flock: {}; its file system has no locks, which keep two processes from training one run: "
                    "choose a folder on another one",
                    path.string(), std::generic_category().message(errno)));
  }
  if (errno != EWOULDBLOCK) return ErrnoError(fmt::format("{}: flock", path.string()), errno);
  return BusyError(
      fmt::format("{}: the run is in use by {}; wait for it or stop it", path.parent_path().string(), OwnerLine(file)));
}

}  // namespace

absl::StatusOr<RunLock> RunLock::Take(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < kOpenTries; ++attempt) {
    // Does not truncate: if the lock is taken, the owner's line must still be readable.
    ASSIGN_OR_RETURN(PinnedFolder folder, PinnedFolder::Pin(path.parent_path()));
    ASSIGN_OR_RETURN(File file, File::OpenOrCreate(path));
    RETURN_IF_ERROR(Failpoint("run.lock"));
    RETURN_IF_ERROR(LockFile(file));
    // The previous holder may have removed the file together with its run folder.
    if (!HasName(file.descriptor(), path)) continue;
    const std::string line =
        fmt::format("pid {} since {:%Y-%m-%d %H:%M:%S} UTC\n", ::getpid(), fmt::gmtime(std::time(nullptr)));
    RETURN_IF_ERROR(file.Truncate(0));
    RETURN_IF_ERROR(file.WriteAt(0, std::as_bytes(std::span<const char>(line))));
    return RunLock(std::move(folder), std::move(file));
  }
  return BusyError(
      fmt::format("{}: was removed or replaced each of {} times while it was being locked; stop what does "
                  "that, or choose another folder",
                  path.string(), kOpenTries));
}

absl::StatusOr<RunLock> RunLock::Share(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(PinnedFolder folder, PinnedFolder::Pin(path.parent_path()));
  ASSIGN_OR_RETURN(File file, File::OpenOrCreate(path));
  if (::flock(file.descriptor(), LOCK_SH | LOCK_NB) != 0) return ErrnoError(path.string() + ": flock", errno);
  return RunLock(std::move(folder), std::move(file));
}

absl::Status RunLock::AwaitOthers(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const bool there, FileExists(path));
  if (!there) return absl::OkStatus();
  ASSIGN_OR_RETURN(const File file, File::OpenOrCreate(path));
  constexpr int kTriesInAll = 100;
  for (int attempt = 1; ::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoError(path.string() + ": flock", errno);
    if (attempt == kTriesInAll) {
      return BusyError(fmt::format("{}: a process of an earlier job still uses the run; wait for it or stop it",
                                   path.parent_path().string()));
    }
    std::this_thread::sleep_for(kOwnerWait);
  }
  return absl::OkStatus();
}

}  // namespace octavo
