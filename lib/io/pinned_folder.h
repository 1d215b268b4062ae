// Folders that are opened once and then used through their descriptor.
//
// Where others may rename what is in the parent of a folder (no sticky bit), they can put a symbolic link in the
// folder's place between two system calls on paths: the second would change files elsewhere. The calls of io/file.h
// therefore ask PathPlace, which finds a path in or below a pinned folder through its descriptor and follows no link
// there. Other paths are taken as they are: links on the way to a folder that the user names are followed.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace octavo {

// From Pin to the destructor all paths of this process that begin with `path`, as it is spelled, mean the folder that
// had the name at Pin. One owner; any number of folders, also one in another.
class PinnedFolder {
 public:
  // Opens the folder; `path` may be a link to it, unless all can write beside it and the link is of a
  // user who is neither this one nor root nor the owner of the link's folder.
  static absl::StatusOr<PinnedFolder> Pin(const std::filesystem::path& path);
  // The same for a folder that was just made: a link, or a folder with anything in it, is an error.
  static absl::StatusOr<PinnedFolder> PinNew(const std::filesystem::path& path);

  PinnedFolder(PinnedFolder&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  PinnedFolder& operator=(PinnedFolder&& other) noexcept;
  ~PinnedFolder() { Release(); }

  // Ends it early. Idempotent.
  void Release();
  // Whether `path` itself (not a link) names the folder.
  bool HasName(const std::filesystem::path& path) const;

 private:
  explicit PinnedFolder(int id) : id_(id) {}
  static absl::StatusOr<PinnedFolder> Pin(const std::filesystem::path& path, bool fresh);

  int id_;  // 0: none
};

// The folders at and below `path` are no longer pinned: their names have changed.
void UnpinBelow(const std::filesystem::path& path);

// A path as an open folder and a name in it, for the ...at calls. One owner.
class PathPlace {
 public:
  // kName: a pinned folder itself is a name in its parent. kContents: it is "." in itself.
  enum class Folder { kName, kContents };
  explicit PathPlace(const std::filesystem::path& path, Folder folder = Folder::kName);
  PathPlace(const PathPlace&) = delete;
  PathPlace& operator=(const PathPlace&) = delete;
  ~PathPlace();

  // AT_FDCWD where no pinned folder is on the path; -1 if a folder below the pinned one cannot be opened without
  // following a link: calls then fail with EBADF, and `error` has the reason.
  int folder() const { return folder_; }
  const char* name() const { return name_.c_str(); }
  int error() const { return error_; }
  // Sets errno to `error` if there is one. Returns -1.
  int Fail() const;

 private:
  int folder_;
  int error_ = 0;
  std::string name_;
};

}  // namespace octavo
