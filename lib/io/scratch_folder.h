// A temporary folder that the destructor removes with its contents.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace octavo {

// One owner. A kill leaves the folder; it is hidden: .NAME-XXXXXX.
class ScratchFolder {
 public:
  static absl::StatusOr<ScratchFolder> Make(const std::filesystem::path& parent, std::string_view name);
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace octavo
