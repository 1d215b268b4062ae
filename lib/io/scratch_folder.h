// A temporary folder that the destructor removes with its contents.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "io/atomic_file.h"

namespace octavo {

// One owner. The folder is hidden: .NAME-PID-XXXXXX. A kill leaves it; the next Make of the same name in the same
// parent removes it.
class ScratchFolder {
 public:
  static absl::StatusOr<ScratchFolder> Make(const std::filesystem::path& parent, std::string_view name);
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  ScratchFolder(std::filesystem::path path, PathLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  PathLock lock_;  // shows others that the folder is in use
};

}  // namespace octavo
