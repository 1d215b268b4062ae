// Measures how fast a disk reads and writes long sequential ranges, past the page cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"

namespace octavo {

struct DiskRates {
  double read = 0;   // bytes per second
  double write = 0;  // bytes per second
  double sync = 0;   // seconds to write a page and sync it
};

// Writes `bytes` to an unnamed file in `folder`, syncs, and reads them back, in steps of 8 MiB. The file never outlives
// the call. Ends with absl::CancelledError soon after `stop`, which may be empty, returns true. REQUIRES: bytes > 0
absl::StatusOr<DiskRates> ProbeDisk(const std::filesystem::path& folder, std::uint64_t bytes,
                                    const std::function<bool()>& stop = {});

// Whether files in `folder`, or in its nearest existing parent, support transfers past the page cache (O_DIRECT).
// Writes nothing. Returns true if it cannot tell.
bool TakesDirectTransfers(std::filesystem::path folder);

}  // namespace octavo
