// Files and folders that appear under their final name only when they are whole.
#pragma once

#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

// A folder under construction: files are written into path(), a hidden sibling of the final name, and Commit syncs
// every file, renames it and syncs the parent. Destroyed without Commit it removes what it made. One owner.
class AtomicFolder {
 public:
  // Makes the temporary folder `<parent>/.<name>.partial-<pid>`. The final path must not exist, or be an empty folder,
  // unless `overwrite`, in which case Commit swaps it out and removes it. Leftovers of dead processes are removed.
  static absl::StatusOr<AtomicFolder> Create(const std::filesystem::path& final_path, bool overwrite);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&& other) = delete;
  ~AtomicFolder();

  const std::filesystem::path& path() const { return temporary_; }
  absl::Status Commit();

 private:
  AtomicFolder(std::filesystem::path temporary, std::filesystem::path final_path, bool overwrite)
      : temporary_(std::move(temporary)), final_(std::move(final_path)), overwrite_(overwrite) {}

  std::filesystem::path temporary_;  // empty once committed or moved from
  std::filesystem::path final_;
  bool overwrite_;
};

}  // namespace octavo
