// Refuses symbolic links inside the project's own folders: writing through one would change a file elsewhere.
#pragma once

#include <filesystem>

#include "absl/status/status.h"

namespace octavo {

// Returns a corrupt-file error if `path` itself is a symbolic link. A missing path is accepted.
absl::Status CheckNoLink(const std::filesystem::path& path);

}  // namespace octavo
