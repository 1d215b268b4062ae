// Expands paths of inputs, which may be glob patterns.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

// Returns the files that `path` stands for: itself if it is "-", exists, or has none of * ? [; otherwise all files that
// match it as a shell pattern (glob(7)), in byte order. A pattern without matches is a usage error.
absl::StatusOr<std::vector<std::string>> ExpandPath(const std::string& path);

}  // namespace octavo
