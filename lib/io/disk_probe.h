// How fast a disk moves long runs of bytes, past the page cache.
#pragma once

#include <cstdint>
#include <filesystem>

#include "absl/status/statusor.h"

namespace octavo {

struct DiskRates {
  double read = 0;   // bytes a second
  double write = 0;  // bytes a second
};

// Writes `bytes` to a file without a name in `folder`, syncs, and reads them back, in steps of 8 MiB. The file is gone
// however this ends. REQUIRES: bytes > 0
absl::StatusOr<DiskRates> ProbeDisk(const std::filesystem::path& folder, std::uint64_t bytes);

}  // namespace octavo
