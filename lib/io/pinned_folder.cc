#include "io/pinned_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

struct OpenFolder {
  explicit OpenFolder(int opened) : descriptor(opened) {}
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  ~OpenFolder() { ::close(descriptor); }

  const int descriptor;
};

struct Pinned {
  int id = 0;
  std::string path = {};  // without a slash at its end; empty: its name has changed
  // Shared with calls that are using it while it is released.
  std::shared_ptr<const OpenFolder> folder = {};
};

class Registry {
 public:
  int Add(std::string path, int descriptor) {
    const MutexLock lock(mutex_);
    pinned_.push_back({++last_id_, std::move(path), std::make_shared<const OpenFolder>(descriptor)});
    return last_id_;
  }

  void Remove(int id) {
    const MutexLock lock(mutex_);
    std::erase_if(pinned_, [id](const Pinned& pinned) { return pinned.id == id; });
  }

  void Unpin(std::string_view path) {
    const MutexLock lock(mutex_);
    for (Pinned& pinned : pinned_) {
      if (pinned.path == path || Below(path, pinned.path)) pinned.path.clear();
    }
  }

  std::shared_ptr<const OpenFolder> Find(int id) const {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(pinned_, id, &Pinned::id);
    return found == pinned_.end() ? nullptr : found->folder;
  }

  // Returns the innermost pinned folder above `path`, or with `itself` at it, and the rest of the path; null without
  // one.
  std::pair<std::shared_ptr<const OpenFolder>, std::string> Innermost(std::string_view path, bool itself) const {
    const MutexLock lock(mutex_);
    const Pinned* best = nullptr;
    for (const Pinned& pinned : pinned_) {
      const bool on_path = !pinned.path.empty() && ((itself && pinned.path == path) || Below(pinned.path, path));
      if (on_path && (best == nullptr || pinned.path.size() >= best->path.size())) best = &pinned;
    }
    if (best == nullptr) return {nullptr, std::string()};
    return {best->folder, std::string(path.substr(best->path.size()))};
  }

 private:
  static bool Below(std::string_view folder, std::string_view path) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
  }

  mutable Mutex mutex_;
  std::vector<Pinned> pinned_ ABSL_GUARDED_BY(mutex_);
  int last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: files are used until the process ends.
Registry& Folders() {
  static Registry& registry = *new Registry;
  return registry;
}

std::string_view WithoutSlash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

int OpenFolderAt(int folder, const char* name, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::openat(folder, name, flags | O_DIRECTORY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// Whether the path is a link that another user may have put there: it is in a folder that all can write, and neither
// this user's nor root's nor of the owner of that folder. The kernel's fs.protected_symlinks has the same rule, where
// the folder has the sticky bit.
bool IsForeignLink(const fs::path& path) {
  struct stat link {};
  struct stat parent {};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  if (link.st_uid == ::geteuid() || link.st_uid == 0) return false;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return ::stat(folder.c_str(), &parent) != 0 || ((parent.st_mode & S_IWOTH) != 0 && link.st_uid != parent.st_uid);
}

bool IsEmpty(int descriptor) {
  const int copy = OpenFolderAt(descriptor, ".", O_RDONLY);
  DIR* const listed = copy < 0 ? nullptr : ::fdopendir(copy);
  if (listed == nullptr) {
    if (copy >= 0) ::close(copy);
    return false;
  }
  bool empty = true;
  while (const dirent* const entry = ::readdir(listed)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") empty = false;
  }
  ::closedir(listed);
  return empty;
}

}  // namespace

absl::StatusOr<PinnedFolder> PinnedFolder::Pin(const fs::path& path) { return Pin(path, /*fresh=*/false); }
absl::StatusOr<PinnedFolder> PinnedFolder::PinNew(const fs::path& path) { return Pin(path, /*fresh=*/true); }

absl::StatusOr<PinnedFolder> PinnedFolder::Pin(const fs::path& path, bool fresh) {
  const fs::path named = path.empty() ? fs::path(".") : path;
  // "run/" means what "run" leads to; the link itself has no slash.
  if (IsForeignLink(WithoutSlash(named.native()))) {
    return UsageError(
        fmt::format("{}: is a symbolic link of another user, in a folder that all can write; expected a "
                    "folder",
                    named.string()));
  }
  const PathPlace place(named);
  const int links = fresh || place.folder() != AT_FDCWD ? O_NOFOLLOW : 0;
  const int descriptor =
      place.error() != 0 ? place.Fail() : OpenFolderAt(place.folder(), place.name(), O_RDONLY | links);
  if (descriptor < 0) return ErrnoError(fmt::format("{}: open", named.string()), errno);
  if (fresh && !IsEmpty(descriptor)) {
    ::close(descriptor);
    return RuntimeError(
        fmt::format("{}: is not the empty folder that was made: others write in its parent", named.string()));
  }
  return PinnedFolder(Folders().Add(std::string(WithoutSlash(path.native())), descriptor));
}

PinnedFolder& PinnedFolder::operator=(PinnedFolder&& other) noexcept {
  if (this != &other) {
    Release();
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

void PinnedFolder::Release() {
  if (id_ != 0) Folders().Remove(std::exchange(id_, 0));
}

bool PinnedFolder::HasName(const fs::path& path) const {
  const std::shared_ptr<const OpenFolder> folder = Folders().Find(id_);
  struct stat open {};
  struct stat named {};
  return folder != nullptr && ::fstat(folder->descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

void UnpinBelow(const fs::path& path) { Folders().Unpin(WithoutSlash(path.native())); }

PathPlace::PathPlace(const fs::path& path, Folder folder) : folder_(AT_FDCWD), name_(path.native()) {
  const auto [pinned, rest] = Folders().Innermost(WithoutSlash(path.native()), folder == Folder::kContents);
  if (pinned == nullptr) return;
  std::vector<std::string> steps;
  for (const fs::path& step : fs::path(rest).relative_path()) {
    if (step == "..") return;  // may lead out of it
    if (!step.empty() && step != ".") steps.push_back(step.string());
  }
  name_ = steps.empty() ? "." : steps.back();
  folder_ = OpenFolderAt(pinned->descriptor, ".", O_PATH);
  for (std::size_t i = 0; i + 1 < steps.size() && folder_ >= 0; ++i) {
    const int outer = folder_;
    folder_ = OpenFolderAt(outer, steps[i].c_str(), O_PATH | O_NOFOLLOW);
    error_ = errno;
    ::close(outer);
  }
  error_ = folder_ >= 0 ? 0 : error_ == 0 ? errno : error_;
}

PathPlace::~PathPlace() {
  if (folder_ >= 0) ::close(folder_);
}

int PathPlace::Fail() const {
  if (error_ != 0) errno = error_;
  return -1;
}

}  // namespace octavo
