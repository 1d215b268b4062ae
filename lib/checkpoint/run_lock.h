// Allows one writer per run: an flock on RUN/LOCK, held by this object. The kernel releases it when the process ends,
// however it ends. Meanwhile the run's folder is pinned (io/pinned_folder.h): whatever is put in its place, its files
// are written in the folder that was locked.
#pragma once

#include <filesystem>

#include "absl/status/statusor.h"
#include "io/file.h"
#include "io/pinned_folder.h"

namespace octavo {

// Where several processes of one job use the folder, the first of them has the lock, and each of the others a share of a
// lock on RUN/RANKS: none of them may be left, still writing, when the next job takes the run.
class RunLock {
 public:
  // Takes the lock and writes pid and start time into the file. If another process holds it: a busy error that names
  // both. If the file is repeatedly removed or replaced before it is locked: also a busy error, as another process
  // could then use the run at the same time.
  static absl::StatusOr<RunLock> Take(const std::filesystem::path& path);
  // The lock of another process of the job, on `path`. REQUIRES: the folder's first process holds its lock
  static absl::StatusOr<RunLock> Share(const std::filesystem::path& path);
  // Waits a few seconds until no process shares `path`, which need not exist; a busy error otherwise.
  static absl::Status AwaitOthers(const std::filesystem::path& path);

 private:
  RunLock(PinnedFolder folder, File file) : folder_(std::move(folder)), file_(std::move(file)) {}
  PinnedFolder folder_;
  File file_;
};

}  // namespace octavo
