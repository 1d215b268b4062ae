// How an import divides its memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace octavo {

// The phases run one after the other, and each can use what the previous one has freed. Reading and parsing need
// workers, collected_bytes and window_bytes together.
struct MemoryPlan {
  std::size_t workers = 1;                   // chunks of text parsed in parallel
  std::uint64_t collected_bytes = 0;         // names and edges held before they go to files
  std::uint64_t window_bytes = 0;            // window of a zstd frame of the input
  std::uint64_t max_cached_input_bytes = 0;  // larger input files are dropped from the page cache as they are read
  std::uint64_t encode_bytes = 0;            // the array of hashes and a batch of edges
  std::uint64_t merge_bytes = 0;             // buffers of a merge; with edges in memory: extra memory for sorting
};

// Divides `memory_bytes` (0: no limit) among at most `threads` workers. Too little for one worker is a usage error that
// names the smallest sufficient amount.
absl::StatusOr<MemoryPlan> PlanMemory(std::uint64_t memory_bytes, std::size_t threads);

}  // namespace octavo
