#include "io/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <future>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_replace.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "io/file.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInfix = ".partial-";
constexpr int kLockTries = 100;
constexpr std::chrono::milliseconds kLockWait(1);
constexpr int kMostNames = 1000;  // for one process number; if more are taken, something else is wrong

absl::Status FolderError(const fs::path& path, std::string_view operation, const std::error_code& error) {
  return RuntimeError(fmt::format("{}: {}: {}", path.string(), operation, error.message()));
}

fs::path ParentOf(const fs::path& path) { return path.parent_path().empty() ? fs::path(".") : path.parent_path(); }

// Returns the name of an entry of `folder` that is not a regular file named in `replaceable`, or "" if there is none.
std::string ForeignEntry(const fs::path& folder, std::span<const std::string> replaceable) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool known = std::find(replaceable.begin(), replaceable.end(), name) != replaceable.end();
    if (!known || !fs::is_regular_file(entry.symlink_status(error))) return name;
  }
  return error ? error.message() : std::string();
}

// Removes the files named in `replaceable`, then the folder if it is empty. Never removes anything else.
// Where others may write they could put a link in the folder's place meanwhile, so the files are removed from the
// opened folder.
void RemoveFolderOf(const fs::path& folder, std::span<const std::string> replaceable) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) return;
  for (const std::string& name : replaceable) {
    ::unlinkat(opened, name.c_str(), 0);
    ::unlinkat(opened, PartialPath(name).c_str(), 0);
  }
  ::close(opened);
  ::rmdir(folder.c_str());
}

// Resolves "graph/", "." and "a/../graph" to the names they mean: rename accepts only those.
fs::path TargetOf(const fs::path& path) {
  std::error_code ignored;
  const fs::path target = fs::absolute(path, ignored).lexically_normal();
  return target.has_filename() ? target : target.parent_path();
}

std::string PrefixOf(const fs::path& target) { return fmt::format(".{}{}", target.filename().string(), kInfix); }

// Returns the name of the `n`-th partial file or folder of this process, counted from 0.
fs::path NameOf(const fs::path& final_path, int n) {
  const std::string name = fmt::format("{}{}", PrefixOf(final_path), ::getpid());
  return final_path.parent_path() / (n == 0 ? name : fmt::format("{}.{}", name, n));
}

// Whether the temporary folder or file whose name is the prefix and `suffix` (`<pid>` or `<pid>.<n>`) is abandoned.
bool IsAbandonedName(const fs::path& path, std::string_view suffix) {
  pid_t pid = 0;
  int n = 0;
  const char* const last = suffix.data() + suffix.size();
  std::from_chars_result number = std::from_chars(suffix.data(), last, pid);
  if (number.ec == std::errc() && number.ptr != last && *number.ptr == '.') {
    number = std::from_chars(number.ptr + 1, last, n);
  }
  if (number.ec != std::errc() || number.ptr != last) return false;
  return IsAbandoned(path, pid);
}

std::vector<fs::path> Abandoned(const fs::path& final_path, fs::file_type type) {
  const fs::path target = TargetOf(final_path);
  const std::string prefix = PrefixOf(target);
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(ParentOf(target), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || entry.symlink_status(ignored).type() != type) continue;
    if (IsAbandonedName(entry.path(), std::string_view(name).substr(prefix.size()))) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

absl::Status NoNameLeft(const fs::path& final_path) {
  return RuntimeError(fmt::format("{}: this name and {} more are taken; remove the leftovers there",
                                  NameOf(final_path, 0).string(), kMostNames - 1));
}

absl::Status ForeignError(const fs::path& folder, std::string_view entry) {
  return UsageError(fmt::format("{}: holds \"{}\", which no import made; expected a folder with nothing but a graph",
                                folder.string(), Escape(entry)));
}

// Returns `folder` and its ancestors that do not exist, innermost first.
std::vector<fs::path> MissingFolders(fs::path folder) {
  std::vector<fs::path> missing;
  std::error_code error;
  while (folder.has_relative_path() && fs::symlink_status(folder, error).type() == fs::file_type::not_found) {
    missing.push_back(folder);
    folder = folder.parent_path();
  }
  return missing;
}

// Renames `from` to `to`, which must be absent or an empty folder (ENOTEMPTY or ENOTDIR otherwise).
absl::Status Place(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return ErrnoError(fmt::format("{}: rename", to.string()), errno);
}

// Renames `from` to `to` where two names cannot be exchanged: moves what is there aside first, so for an instant
// nothing has the final name. Returns the name of what was there, or `from` if it was nothing.
absl::StatusOr<fs::path> PlaceAfterMovingAside(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return from;
  // The errors of a folder with contents differ: ENOTEMPTY, EEXIST, and EPERM of sshfs.
  const int error_number = errno;
  std::error_code ignored;
  if (!fs::is_directory(fs::symlink_status(to, ignored))) {
    return ErrnoError(fmt::format("{}: rename", to.string()), error_number);
  }
  for (int n = 1; n < kMostNames; ++n) {
    const fs::path aside = NameOf(to, n);
    if (fs::exists(fs::symlink_status(aside, ignored))) continue;
    RETURN_IF_ERROR(Place(to, aside));
    if (absl::Status placed = Place(from, to); !placed.ok()) {
      ::rename(aside.c_str(), to.c_str());
      return placed;
    }
    return aside;
  }
  return NoNameLeft(to);
}

// Exchanges `from` with `to`, which may be a folder with contents, in one step if the file system can: the final name
// then exists at every instant. Returns the name of what was at `to`.
absl::StatusOr<fs::path> Exchange(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return from;
  if (errno == ENOENT || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
    return PlaceAfterMovingAside(from, to);
  }
  if (errno == EXDEV) {
    return RuntimeError(
        fmt::format("{}: it is in a lower layer of an overlay file system, which cannot rename it; remove it first, or "
                    "choose another folder",
                    to.string()));
  }
  return ErrnoError(fmt::format("{}: rename", to.string()), errno);
}

absl::Status SyncFile(const fs::path& path) {
  ASSIGN_OR_RETURN(File file, File::OpenReadWrite(path));
  RETURN_IF_ERROR(file.Sync());
  return file.Close();
}

}  // namespace

absl::StatusOr<ParentFolders> ParentFolders::Make(const fs::path& folder) {
  std::vector<fs::path> missing = MissingFolders(folder);
  RETURN_IF_ERROR(CreateFolders(folder));
  return ParentFolders(std::move(missing));
}

ParentFolders::~ParentFolders() {
  for (const fs::path& folder : folders_) ::rmdir(folder.c_str());  // keeps a folder that others use by now
}

bool IsAbandoned(const fs::path& path, pid_t maker) {
  const bool gone = maker == ::getpid() || (::kill(maker, 0) != 0 && errno == ESRCH);
  return gone && PathLock(path).held();
}

PathLock::PathLock(const fs::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    unsupported_ = errno != ENOENT && errno != ELOOP;
    return;
  }
  int result = 0;
  do {
    result = ::flock(descriptor_, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  unsupported_ = errno != EWOULDBLOCK;
  ::close(std::exchange(descriptor_, -1));
}

bool PathLock::HoldsOn(const fs::path& path) const { return held() && HasName(descriptor_, path); }

PathLock::~PathLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

absl::StatusOr<PartialName> MakePartial(const fs::path& final_path,
                                        const std::function<absl::StatusOr<bool>(const fs::path&)>& create) {
  for (int n = 0; n < kMostNames; ++n) {
    const fs::path path = NameOf(final_path, n);
    ASSIGN_OR_RETURN(const bool made, create(path));
    if (!made) continue;
    if (const absl::Status injected = Failpoint("partial.lock"); !injected.ok()) {
      ::remove(path.c_str());
      return injected;
    }
    for (int attempt = 0; attempt < kLockTries; ++attempt) {
      PathLock lock(path);
      if (lock.HoldsOn(path) || lock.unsupported()) return PartialName{path, std::move(lock)};
      std::error_code ignored;
      if (lock.held() || !fs::exists(fs::symlink_status(path, ignored))) break;  // removed
      std::this_thread::sleep_for(kLockWait);  // another process holds the lock to check whether it is abandoned
    }
  }
  return NoNameLeft(final_path);
}

absl::Status UnderFinalName(const absl::Status& status, const fs::path& partial, const fs::path& final_path) {
  if (status.ok() || partial.empty()) return status;
  absl::Status named(status.code(), absl::StrReplaceAll(status.message(), {{partial.native(), final_path.native()}}));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) { named.SetPayload(type, payload); });
  return named;
}

absl::StatusOr<AtomicFolder> AtomicFolder::Create(const fs::path& final_path, bool overwrite,
                                                  std::vector<std::string> replaceable) {
  if (final_path.empty()) return UsageError("an output folder needs a name");
  std::error_code error;
  fs::path target = TargetOf(final_path);
  const fs::file_status status = fs::symlink_status(target, error);
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) return UsageError(fmt::format("{}: exists and is not a folder", target.string()));
    if (!overwrite && !fs::is_empty(target, error)) {
      return UsageError(fmt::format("{}: already exists; choose another folder or pass --overwrite", target.string()));
    }
    if (const std::string foreign = ForeignEntry(target, replaceable); !foreign.empty()) {
      return ForeignError(target, foreign);
    }
  }
  ASSIGN_OR_RETURN(ParentFolders parents, ParentFolders::Make(ParentOf(target)));
  for (const fs::path& folder : AbandonedFolders(target)) RemoveAbandonedFolder(folder, replaceable);
  ASSIGN_OR_RETURN(PartialName partial, MakePartial(target, [&](const fs::path& path) -> absl::StatusOr<bool> {
                     if (::mkdir(path.c_str(), 0777) == 0) return true;
                     if (errno == EEXIST) return false;
                     return ErrnoError(fmt::format("{}: create", target.string()), errno);
                   }));
  absl::StatusOr<PinnedFolder> pinned = PinnedFolder::PinNew(partial.path);
  if (!pinned.ok()) {
    ::rmdir(partial.path.c_str());
    return octavo::UnderFinalName(pinned.status(), partial.path, target);
  }
  return AtomicFolder(std::move(parents), std::move(partial), *std::move(pinned), std::move(target), overwrite,
                      std::move(replaceable));
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : parents_(std::move(other.parents_)),
      temporary_(std::exchange(other.temporary_, {})),
      lock_(std::move(other.lock_)),
      pinned_(std::move(other.pinned_)),
      final_(std::move(other.final_)),
      overwrite_(other.overwrite_),
      replaceable_(std::move(other.replaceable_)) {}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty() && pinned_.HasName(temporary_)) RemoveFolderOf(temporary_, replaceable_);
}

absl::Status AtomicFolder::Commit() {
  RETURN_IF_ERROR(Failpoint("folder.commit"));
  std::error_code error;
  // Each sync waits until the disk has emptied its cache. In parallel the files wait for that once, not once each. If
  // no thread can be started, get() runs the sync.
  std::vector<std::future<absl::Status>> synced;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary_, error)) {
    synced.push_back(std::async(SyncFile, entry.path()));
  }
  if (error) return FolderError(final_, "list", error);
  for (std::future<absl::Status>& status : synced) RETURN_IF_ERROR(UnderFinalName(status.get()));
  RETURN_IF_ERROR(UnderFinalName(SyncFolder(temporary_)));
  // Checks the folder again: something may have been added since Create.
  if (const std::string foreign = overwrite_ ? ForeignEntry(final_, replaceable_) : ""; !foreign.empty()) {
    if (fs::exists(final_, error)) return ForeignError(final_, foreign);
  }
  fs::path old = temporary_;  // the name of whatever had the final name before
  if (overwrite_) {
    ASSIGN_OR_RETURN(old, Exchange(temporary_, final_));
  } else {
    RETURN_IF_ERROR(Place(temporary_, final_));
  }
  temporary_.clear();
  parents_.Keep();
  if (!pinned_.HasName(final_)) {
    return RuntimeError(
        fmt::format("{}: another process has replaced it while it was made; choose a folder whose parent "
                    "only you can write, or one with the sticky bit",
                    final_.string()));
  }
  if (const absl::Status named = SyncFolder(ParentOf(final_)); !named.ok()) {
    return RuntimeError(fmt::format("{}; {} is complete and in its place, but a power cut can undo that",
                                    MessageOf(named), final_.string()));
  }
  // A process with the same number in another container may have removed it and created its own under this name.
  const PathLock lock(old);
  if (lock.HoldsOn(old) || lock.unsupported()) RemoveFolderOf(old, replaceable_);
  return absl::OkStatus();
}

std::vector<fs::path> AbandonedFolders(const fs::path& final_path) {
  return Abandoned(final_path, fs::file_type::directory);
}

bool RemoveAbandonedFolder(const fs::path& folder, const std::vector<std::string>& replaceable) {
  const PathLock lock(folder);
  if (lock.HoldsOn(folder)) RemoveFolderOf(folder, replaceable);
  std::error_code ignored;
  return !fs::exists(fs::symlink_status(folder, ignored));
}

void RemoveAbandonedFiles(const fs::path& final_path) {
  for (const fs::path& file : Abandoned(final_path, fs::file_type::regular)) {
    const PathLock lock(file);
    if (lock.HoldsOn(file)) ::unlink(file.c_str());
  }
}

}  // namespace octavo
