// Files and folders that appear under their final name only when complete.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/pinned_folder.h"

namespace octavo {

// An flock on a folder or a file. The kernel releases it when the process ends, however it ends. One owner.
class PathLock {
 public:
  // Not held if another process holds it, if nothing is there, or if the file system does not support locks.
  explicit PathLock(const std::filesystem::path& path);
  PathLock(PathLock&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), unsupported_(other.unsupported_) {}
  PathLock& operator=(PathLock&&) = delete;
  ~PathLock();

  bool held() const { return descriptor_ >= 0; }
  // Not held, although no other process holds it: the file system does not support locks, or this process may open no
  // more files.
  bool unsupported() const { return unsupported_; }
  // Whether it is held and `path` still names the locked file: an earlier holder may have removed it.
  bool HoldsOn(const std::filesystem::path& path) const;

 private:
  int descriptor_;
  bool unsupported_ = false;
};

// Whether no process uses what process `maker` has made at `path` and, unless it was killed before, locked. Both the
// number and the lock are checked: the maker may live in another container, or may not have locked it yet. So makers
// check after locking that it still exists, and who removes it takes the lock again.
bool IsAbandoned(const std::filesystem::path& path, pid_t maker);

// Folders that were made to hold another one. Without Keep the destructor removes those that are empty.
class ParentFolders {
 public:
  // Makes `folder` and its missing ancestors.
  static absl::StatusOr<ParentFolders> Make(const std::filesystem::path& folder);
  ParentFolders(ParentFolders&& other) noexcept : folders_(std::exchange(other.folders_, {})) {}
  ParentFolders& operator=(ParentFolders&&) = delete;
  ~ParentFolders();

  // Whether it made any folder, and will therefore remove it.
  bool any() const { return !folders_.empty(); }
  void Keep() { folders_.clear(); }

 private:
  explicit ParentFolders(std::vector<std::filesystem::path> innermost_first) : folders_(std::move(innermost_first)) {}

  std::vector<std::filesystem::path> folders_;
};

// A file or folder under a temporary name beside a final one: `<parent>/.<name>.partial-<pid>`, or with `.<n>` appended
// if that name is taken, e.g. by a process with the same number in another container. It belongs to this owner alone
// and is locked while in use, where the file system supports locks. Where it does not, leftovers of a killed process
// are not removed.
struct PartialName {
  std::filesystem::path path;
  PathLock lock;
};

// Makes one beside `final_path`. `create` makes an empty file or folder and returns false if the name is taken. Another
// process that removes abandoned files may remove it before it is locked; then it is made again.
absl::StatusOr<PartialName> MakePartial(
    const std::filesystem::path& final_path,
    const std::function<absl::StatusOr<bool>(const std::filesystem::path&)>& create);

// Returns the error with the final name in place of the partial one in its message: the partial file is gone when
// somebody reads it.
absl::Status UnderFinalName(const absl::Status& status, const std::filesystem::path& partial,
                            const std::filesystem::path& final_path);

// A folder under construction. Files are written into path(), a hidden sibling of the final name. Commit syncs every
// file (all in parallel, each with its own thread and descriptor), renames the folder and syncs the parent. Without
// Commit the destructor removes what was made. The folder is pinned (io/pinned_folder.h): what others put in its place
// meanwhile is neither written to nor removed, and is an error of Commit. One owner.
class AtomicFolder {
 public:
  // Makes the temporary folder, a PartialName. The final path must not exist or be an empty folder. With `overwrite` it
  // may also be a folder that holds only regular files named in `replaceable`; Commit exchanges it for the new one and
  // removes it. A folder with anything else in it is a usage error and stays unchanged. Leftovers (AbandonedFolders)
  // are removed by the same rule.
  static absl::StatusOr<AtomicFolder> Create(const std::filesystem::path& final_path, bool overwrite,
                                             std::vector<std::string> replaceable);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&& other) = delete;
  ~AtomicFolder();

  const std::filesystem::path& path() const { return temporary_; }
  // Absolute.
  const std::filesystem::path& final_path() const { return final_; }
  // For errors inside the folder before Commit. Commit's own errors already name the final path.
  absl::Status UnderFinalName(const absl::Status& status) const {
    return octavo::UnderFinalName(status, temporary_, final_);
  }
  absl::Status Commit();

 private:
  AtomicFolder(ParentFolders parents, PartialName partial, PinnedFolder pinned, std::filesystem::path final_path,
               bool overwrite, std::vector<std::string> replaceable)
      : parents_(std::move(parents)),
        temporary_(std::move(partial.path)),
        lock_(std::move(partial.lock)),
        pinned_(std::move(pinned)),
        final_(std::move(final_path)),
        overwrite_(overwrite),
        replaceable_(std::move(replaceable)) {}

  ParentFolders parents_;            // first, to be removed last
  std::filesystem::path temporary_;  // empty once committed or moved from
  PathLock lock_;                    // of the temporary folder, while it is in use
  PinnedFolder pinned_;              // the same folder
  std::filesystem::path final_;
  bool overwrite_;
  std::vector<std::string> replaceable_;
};

// Returns the temporary folders for `final_path` that no process uses any more: their processes are gone and their
// locks are free. The locks also cover processes of other containers.
std::vector<std::filesystem::path> AbandonedFolders(const std::filesystem::path& final_path);

// Removes the regular files named in `replaceable` from a folder that AbandonedFolders returned, then the folder.
// Returns whether the folder is gone: it stays if it holds anything else or if a process uses it by now.
bool RemoveAbandonedFolder(const std::filesystem::path& folder, const std::vector<std::string>& replaceable);

// Removes the temporary files for `final_path` that no process uses any more.
void RemoveAbandonedFiles(const std::filesystem::path& final_path);

}  // namespace octavo
