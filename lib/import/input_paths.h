// Paths of inputs as people give them, patterns among them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

// Returns the files that `path` stands for: itself if it is "-", exists, or has none of * ? [; else all that match it
// as a shell pattern (glob(7)), in the order of their bytes. A pattern that matches nothing is a usage error.
absl::StatusOr<std::vector<std::string>> ExpandPath(const std::string& path);

}  // namespace octavo
