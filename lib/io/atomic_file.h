// Files and folders that appear under their final name only when they are whole.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

// A folder under construction: files are written into path(), a hidden sibling of the final name, and Commit syncs
// every file, renames it and syncs the parent. Destroyed without Commit it removes what it made. One owner.
class AtomicFolder {
 public:
  // Makes the temporary folder `<parent>/.<name>.partial-<pid>`. The final path must not exist or be an empty folder;
  // or, with `overwrite`, a folder that holds nothing but regular files of the names `replaceable`, which Commit
  // exchanges for the new one and removes. A folder with anything else in it is somebody's own: a usage error, and it
  // stays as it is. Leftovers of dead processes are removed by the same rule.
  static absl::StatusOr<AtomicFolder> Create(const std::filesystem::path& final_path, bool overwrite,
                                             std::vector<std::string> replaceable);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&& other) = delete;
  ~AtomicFolder();

  const std::filesystem::path& path() const { return temporary_; }
  absl::Status Commit();

 private:
  AtomicFolder(std::filesystem::path temporary, std::filesystem::path final_path, bool overwrite,
               std::vector<std::string> replaceable)
      : temporary_(std::move(temporary)),
        final_(std::move(final_path)),
        overwrite_(overwrite),
        replaceable_(std::move(replaceable)) {}

  std::filesystem::path temporary_;  // empty once committed or moved from
  std::filesystem::path final_;
  bool overwrite_;
  std::vector<std::string> replaceable_;
};

}  // namespace octavo
