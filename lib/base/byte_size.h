// Byte sizes as people write them: 512MiB, 1GiB, 800MB, 4096.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

// Parses a non-negative decimal number, an optional fraction, and an optional unit: B, kB/MB/GB/TB (powers of 1,000),
// KiB/MiB/GiB/TiB or K/M/G/T (powers of 1,024), case-insensitive. The error names what was found.
absl::StatusOr<std::uint64_t> ParseByteSize(std::string_view text);

// Returns e.g. "1.5 GiB", "512 MiB", "17 B".
std::string FormatByteSize(std::uint64_t bytes);

}  // namespace octavo
