// Files and folders that appear under their final name only when they are whole.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

// An flock on a folder or a file, which goes with the process however it dies. One owner.
class PathLock {
 public:
  // Not held where another process has it, or the file system knows no locks.
  explicit PathLock(const std::filesystem::path& path);
  PathLock(PathLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  PathLock& operator=(PathLock&&) = delete;
  ~PathLock();

  bool held() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// Folders that were made to hold another one. Destroyed without Keep they are removed as far as they are empty.
class ParentFolders {
 public:
  explicit ParentFolders(std::vector<std::filesystem::path> innermost_first) : folders_(std::move(innermost_first)) {}
  ParentFolders(ParentFolders&& other) noexcept : folders_(std::exchange(other.folders_, {})) {}
  ParentFolders& operator=(ParentFolders&&) = delete;
  ~ParentFolders();

  void Keep() { folders_.clear(); }

 private:
  std::vector<std::filesystem::path> folders_;
};

// A folder under construction: files are written into path(), a hidden sibling of the final name, and Commit syncs
// every file, renames it and syncs the parent. Destroyed without Commit it removes what it made. One owner.
class AtomicFolder {
 public:
  // Makes the temporary folder `<parent>/.<name>.partial-<pid>`. The final path must not exist or be an empty folder;
  // or, with `overwrite`, a folder that holds nothing but regular files of the names `replaceable`, which Commit
  // exchanges for the new one and removes. A folder with anything else in it is somebody's own: a usage error, and it
  // stays as it is. Leftovers (AbandonedFolders) are removed by the same rule.
  static absl::StatusOr<AtomicFolder> Create(const std::filesystem::path& final_path, bool overwrite,
                                             std::vector<std::string> replaceable);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&& other) = delete;
  ~AtomicFolder();

  const std::filesystem::path& path() const { return temporary_; }
  absl::Status Commit();

 private:
  AtomicFolder(ParentFolders parents, std::filesystem::path temporary, PathLock lock, std::filesystem::path final_path,
               bool overwrite, std::vector<std::string> replaceable)
      : parents_(std::move(parents)),
        temporary_(std::move(temporary)),
        lock_(std::move(lock)),
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

// The same of regular files: `<parent>/.<name>.partial-<pid>`, the name of PidPath.
std::vector<std::filesystem::path> AbandonedFiles(const std::filesystem::path& final_path);
// Returns the temporary name of this process beside `final_path`.
std::filesystem::path PidPath(const std::filesystem::path& final_path);

// Removes the regular files of the names `replaceable` in a folder that AbandonedFolders returned, and then the folder.
// Returns whether it is gone: with anything else in it, it stays.
bool RemoveAbandonedFolder(const std::filesystem::path& folder, const std::vector<std::string>& replaceable);

}  // namespace octavo
