// Allows one writer per run: an flock on RUN/LOCK, held by this object. The kernel releases it when the process ends,
// however it ends.
#pragma once

#include <filesystem>

#include "absl/status/statusor.h"
#include "io/file.h"

namespace octavo {

class RunLock {
 public:
  // Takes the lock and writes pid and start time into the file. If another process holds it: a busy error that names
  // both. If the file is repeatedly removed or replaced before it is locked: also a busy error, as another process
  // could then use the run at the same time.
  static absl::StatusOr<RunLock> Take(const std::filesystem::path& path);

 private:
  explicit RunLock(File file) : file_(std::move(file)) {}
  File file_;
};

}  // namespace octavo
