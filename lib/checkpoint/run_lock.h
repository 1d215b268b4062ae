// Allows one writer per run: an flock on RUN/LOCK, held by this object. The kernel releases it when the process ends,
// however it ends. Meanwhile the run's folder is pinned (io/pinned_folder.h): whatever is put in its place, its files
// are written in the folder that was locked.
#pragma once

#include <filesystem>

#include "absl/status/statusor.h"
#include "io/file.h"
#include "io/pinned_folder.h"

namespace octavo {

class RunLock {
 public:
  // Takes the lock and writes pid and start time into the file. If another process holds it: a busy error that names
  // both. If the file is repeatedly removed or replaced before it is locked: also a busy error, as another process
  // could then use the run at the same time.
  static absl::StatusOr<RunLock> Take(const std::filesystem::path& path);

 private:
  RunLock(PinnedFolder folder, File file) : folder_(std::move(folder)), file_(std::move(file)) {}
  PinnedFolder folder_;
  File file_;
};

}  // namespace octavo
