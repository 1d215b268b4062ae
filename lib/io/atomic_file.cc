#include "io/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "io/file.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInfix = ".partial-";

absl::Status FolderError(const fs::path& path, std::string_view operation, const std::error_code& error) {
  return RuntimeError(fmt::format("{}: {}: {}", path.string(), operation, error.message()));
}

fs::path ParentOf(const fs::path& path) { return path.parent_path().empty() ? fs::path(".") : path.parent_path(); }

// Returns the name of an entry of `folder` that is no regular file of the names `replaceable`, or "" where there is
// none.
std::string ForeignEntry(const fs::path& folder, std::span<const std::string> replaceable) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool known = std::find(replaceable.begin(), replaceable.end(), name) != replaceable.end();
    if (!known || !fs::is_regular_file(entry.symlink_status(error))) return name;
  }
  return error ? error.message() : std::string();
}

// Removes the files of the names `replaceable` and then the folder: never more, whatever the path may be.
void RemoveFolderOf(const fs::path& folder, std::span<const std::string> replaceable) {
  for (const std::string& name : replaceable) {
    ::unlink((folder / name).c_str());
    ::unlink(PartialPath(folder / name).c_str());
  }
  ::rmdir(folder.c_str());
}

// "graph/", "." and "a/../graph" become the names that they mean: a rename takes no other.
fs::path TargetOf(const fs::path& path) {
  std::error_code ignored;
  const fs::path target = fs::absolute(path, ignored).lexically_normal();
  return target.has_filename() ? target : target.parent_path();
}

std::string PrefixOf(const fs::path& target) { return fmt::format(".{}{}", target.filename().string(), kInfix); }

// Whether nobody works on the temporary folder or file of process `digits`. It may be gone by its number and yet live
// in another container, or have made it and not yet locked it; so both are asked.
bool IsAbandoned(const fs::path& path, std::string_view digits) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  const bool gone = pid == ::getpid() || (::kill(pid, 0) != 0 && errno == ESRCH);
  return gone && PathLock(path).held();
}

std::vector<fs::path> Abandoned(const fs::path& final_path, fs::file_type type) {
  const fs::path target = TargetOf(final_path);
  const std::string prefix = PrefixOf(target);
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(ParentOf(target), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || entry.symlink_status(ignored).type() != type) continue;
    if (IsAbandoned(entry.path(), std::string_view(name).substr(prefix.size()))) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

absl::Status ForeignError(const fs::path& folder, std::string_view entry) {
  return UsageError(fmt::format("{}: holds \"{}\", which no import made; expected a folder with nothing but a graph",
                                folder.string(), Escape(entry)));
}

// Returns `folder` and those around it that are not there, the innermost first.
std::vector<fs::path> MissingFolders(fs::path folder) {
  std::vector<fs::path> missing;
  std::error_code error;
  while (folder.has_relative_path() && fs::symlink_status(folder, error).type() == fs::file_type::not_found) {
    missing.push_back(folder);
    folder = folder.parent_path();
  }
  return missing;
}

// Puts `from` in the place of `to`, which is absent or an empty folder (ENOTEMPTY or ENOTDIR otherwise).
absl::Status Place(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return ErrnoError(fmt::format("{}: rename to {}", from.string(), to.string()), errno);
}

// Puts `from` in the place of `to` even where a folder stands there: the two change places in one step, so that at no
// instant there is nothing under the final name; file systems that cannot do that refuse (EINVAL).
absl::Status Exchange(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return absl::OkStatus();
  if (errno == ENOENT) return Place(from, to);
  return ErrnoError(fmt::format("{}: rename to {}", from.string(), to.string()), errno);
}

}  // namespace

ParentFolders::~ParentFolders() {
  for (const fs::path& folder : folders_) ::rmdir(folder.c_str());  // one that others use by now is not empty
}

PathLock::PathLock(const fs::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)) {
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) ::close(std::exchange(descriptor_, -1));
}

PathLock::~PathLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
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
      return UsageError(fmt::format("{}: exists already; choose another folder or say --overwrite", target.string()));
    }
    if (const std::string foreign = ForeignEntry(target, replaceable); !foreign.empty()) {
      return ForeignError(target, foreign);
    }
  }
  const fs::path parent = ParentOf(target);
  std::vector<fs::path> made = MissingFolders(parent);
  RETURN_IF_ERROR(CreateFolders(parent));
  ParentFolders parents(std::move(made));
  for (const fs::path& folder : AbandonedFolders(target)) RemoveFolderOf(folder, replaceable);
  fs::path temporary = PidPath(target);
  fs::create_directory(temporary, error);
  if (error) return ErrnoError(fmt::format("{}: create", temporary.string()), error.value());
  PathLock lock(temporary);
  return AtomicFolder(std::move(parents), std::move(temporary), std::move(lock), std::move(target), overwrite,
                      std::move(replaceable));
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : parents_(std::move(other.parents_)),
      temporary_(std::exchange(other.temporary_, {})),
      lock_(std::move(other.lock_)),
      final_(std::move(other.final_)),
      overwrite_(other.overwrite_),
      replaceable_(std::move(other.replaceable_)) {}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty()) RemoveFolderOf(temporary_, replaceable_);
}

absl::Status AtomicFolder::Commit() {
  RETURN_IF_ERROR(Failpoint("folder.commit"));
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary_, error)) {
    ASSIGN_OR_RETURN(File file, File::OpenReadWrite(entry.path()));
    RETURN_IF_ERROR(file.Sync());
    RETURN_IF_ERROR(file.Close());
  }
  if (error) return FolderError(temporary_, "list", error);
  RETURN_IF_ERROR(SyncFolder(temporary_));
  // The folder is looked at again: something may have come into it since Create.
  if (const std::string foreign = overwrite_ ? ForeignEntry(final_, replaceable_) : ""; !foreign.empty()) {
    if (fs::exists(final_, error)) return ForeignError(final_, foreign);
  }
  RETURN_IF_ERROR(overwrite_ ? Exchange(temporary_, final_) : Place(temporary_, final_));
  // What stood under the final name, if anything, has the temporary one now.
  const fs::path old = std::exchange(temporary_, {});
  parents_.Keep();
  RETURN_IF_ERROR(SyncFolder(ParentOf(final_)));
  RemoveFolderOf(old, replaceable_);
  return absl::OkStatus();
}

std::vector<fs::path> AbandonedFolders(const fs::path& final_path) {
  return Abandoned(final_path, fs::file_type::directory);
}

std::vector<fs::path> AbandonedFiles(const fs::path& final_path) {
  return Abandoned(final_path, fs::file_type::regular);
}

fs::path PidPath(const fs::path& final_path) {
  return final_path.parent_path() / fmt::format("{}{}", PrefixOf(final_path), ::getpid());
}

bool RemoveAbandonedFolder(const fs::path& folder, const std::vector<std::string>& replaceable) {
  RemoveFolderOf(folder, replaceable);
  std::error_code ignored;
  return !fs::exists(fs::symlink_status(folder, ignored));
}

}  // namespace octavo
