// One writer a run: an flock on RUN/LOCK, held as long as the object lives and gone with the process however it dies.
#pragma once

#include <filesystem>

#include "absl/status/statusor.h"
#include "io/file.h"

namespace octavo {

class RunLock {
 public:
  // Takes the lock and writes pid and start time into the file. Where another process has it: a busy error that names
  // both. Where the file is gone or another one whenever it is locked: a busy error, too, as whoever exchanges it would
  // share the run.
  static absl::StatusOr<RunLock> Take(const std::filesystem::path& path);

 private:
  explicit RunLock(File file) : file_(std::move(file)) {}
  File file_;
};

}  // namespace octavo
