// Resolves paths so that they can be compared.
#pragma once

#include <filesystem>

#include "absl/status/statusor.h"

namespace octavo {

// Returns the absolute path with links followed as far as it exists. Also works for "x" and "./x" that do not exist
// yet, and for links to what has no path, such as /dev/stdout connected to a pipe. A disk that cannot answer is an
// error, so that two paths are never taken for one because of it.
absl::StatusOr<std::filesystem::path> ResolvedPath(const std::filesystem::path& path);

}  // namespace octavo
