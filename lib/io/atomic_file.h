// Files and folders that appear under their final name only when they are whole.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

// An flock on a folder or a file, which goes with the process however it dies. One owner.
class PathLock {
 public:
  // Not held where another process has it, nothing is there, or the file system knows no locks.
  explicit PathLock(const std::filesystem::path& path);
  PathLock(PathLock&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), unsupported_(other.unsupported_) {}
  PathLock& operator=(PathLock&&) = delete;
  ~PathLock();

  bool held() const { return descriptor_ >= 0; }
  // Not held, though what is there is nobody's: the file system knows no locks, or this process may open no more files.
  bool unsupported() const { return unsupported_; }
  // Whether it is held and `path` still names what is locked: another holder may have removed it before.
  bool HoldsOn(const std::filesystem::path& path) const;

 private:
  int descriptor_;
  bool unsupported_ = false;
};

// Folders that were made to hold another one. Destroyed without Keep they are removed as far as they are empty.
class ParentFolders {
 public:
  // Makes `folder` and those around it that are not there.
  static absl::StatusOr<ParentFolders> Make(const std::filesystem::path& folder);
  ParentFolders(ParentFolders&& other) noexcept : folders_(std::exchange(other.folders_, {})) {}
  ParentFolders& operator=(ParentFolders&&) = delete;
  ~ParentFolders();

  // Whether it made one, and so `folder`, and is to remove it.
  bool any() const { return !folders_.empty(); }
  void Keep() { folders_.clear(); }

 private:
  explicit ParentFolders(std::vector<std::filesystem::path> innermost_first) : folders_(std::move(innermost_first)) {}

  std::vector<std::filesystem::path> folders_;
};

// What stands under a temporary name beside a final one and is this owner's alone: `<parent>/.<name>.partial-<pid>`, or
// with `.<n>` behind where that is taken, as by a process of another container that has the same number. It is locked
// as long as somebody works on it, where the file system knows locks; where it knows none, what a kill leaves stays
// there.
struct PartialName {
  std::filesystem::path path;
  PathLock lock;
};

// Makes one beside `final_path` with `create`, which makes an empty file or folder and says whether it did: false where
// something has the name. Whoever removes what was abandoned may come between that and the lock; then it is made anew.
absl::StatusOr<PartialName> MakePartial(
    const std::filesystem::path& final_path,
    const std::function<absl::StatusOr<bool>(const std::filesystem::path&)>& create);

// Returns the error with the final name in its message wherever the partial one stands: that one is gone when somebody
// reads it.
absl::Status UnderFinalName(const absl::Status& status, const std::filesystem::path& partial,
                            const std::filesystem::path& final_path);

// A folder under construction: files are written into path(), a hidden sibling of the final name, and Commit syncs
// every file (all side by side, each with a thread and a descriptor), renames it and syncs the parent. Destroyed
// without Commit it removes what it made. One owner.
class AtomicFolder {
 public:
  // Makes the temporary folder, a PartialName. The final path must not exist or be an empty folder;
  // or, with `overwrite`, a folder that holds nothing but regular files of the names `replaceable`, which Commit
  // exchanges for the new one and removes. A folder with anything else in it is somebody's own: a usage error, and it
  // stays as it is. Leftovers (AbandonedFolders) are removed by the same rule.
  static absl::StatusOr<AtomicFolder> Create(const std::filesystem::path& final_path, bool overwrite,
                                             std::vector<std::string> replaceable);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&& other) = delete;
  ~AtomicFolder();

  const std::filesystem::path& path() const { return temporary_; }
  // Absolute.
  const std::filesystem::path& final_path() const { return final_; }
  // For what fails in it, up to Commit, whose own errors are so already.
  absl::Status UnderFinalName(const absl::Status& status) const {
    return octavo::UnderFinalName(status, temporary_, final_);
  }
  absl::Status Commit();

 private:
  AtomicFolder(ParentFolders parents, PartialName partial, std::filesystem::path final_path, bool overwrite,
               std::vector<std::string> replaceable)
      : parents_(std::move(parents)),
        temporary_(std::move(partial.path)),
        lock_(std::move(partial.lock)),
        final_(std::move(final_path)),
        overwrite_(overwrite),
        replaceable_(std::move(replaceable)) {}

  ParentFolders parents_;            // first, to be removed last
  std::filesystem::path temporary_;  // empty once committed or moved from
  PathLock lock_;                    // of the temporary folder, as long as somebody works on it
  std::filesystem::path final_;
  bool overwrite_;
  std::vector<std::string> replaceable_;
};

// Returns the temporary folders for `final_path` that nobody works on any more: their processes are gone, also as other
// containers see it, and with them the locks on the folders.
std::vector<std::filesystem::path> AbandonedFolders(const std::filesystem::path& final_path);

// Removes the regular files of the names `replaceable` in a folder that AbandonedFolders returned, and then the folder.
// Returns whether it is gone: with anything else in it, or where somebody works on it by now, it stays.
bool RemoveAbandonedFolder(const std::filesystem::path& folder, const std::vector<std::string>& replaceable);

// Removes the temporary files for `final_path` that nobody works on any more.
void RemoveAbandonedFiles(const std::filesystem::path& final_path);

}  // namespace octavo
