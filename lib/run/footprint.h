// The memory and disk that a run needs, as far as they follow from its options.
#pragma once

#include <cstdint>

#include "run/options.h"

namespace octavo {

// Measured on an idle program with its libraries and TBB's arenas, rounded up.
inline constexpr std::uint64_t kProgramBytes = std::uint64_t{48} << 20;

// Bytes of one node's rows in all tables.
std::uint64_t NodeBytes(const TrainOptions& options);

// Bytes of the run folder before its first commit, during the training, and after it.
struct DiskSpace {
  std::uint64_t beginning = 0;
  std::uint64_t training = 0;
  std::uint64_t after = 0;
};

}  // namespace octavo
