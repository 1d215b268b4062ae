// How the walks divide their memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "walk/adjacency.h"
#include "walk/walk_options.h"

namespace octavo {

struct WalkPlan {
  // One range of partitions: all neighbours are held, and each walk is taken from end to end. Several: all walks
  // advance step by step, through temporary files.
  std::vector<PartitionRange> ranges;
  std::size_t workers = 1;
  std::uint64_t key_bytes = 0;  // as in PairCounterOptions
  std::uint64_t count_bytes = 0;
  std::uint64_t write_bytes = 0;
  // For the pages of walks between steps (WalkerFile). The page numbers take the same amount again.
  std::uint64_t walker_bytes = 0;

  bool streamed() const { return ranges.size() > 1; }
};

// Divides `memory_bytes` (0: no limit) among `threads` threads for walks on the graph of `partitions`, which holds
// `held_bytes` while it is open. Too little memory is a usage error that names the smallest sufficient amount. A
// partition is never divided: one hub in it may have most of all edges.
absl::StatusOr<WalkPlan> PlanWalks(const WalkOptions& options, std::span<const PartitionRange> partitions,
                                   bool weighted, std::uint64_t held_bytes, std::uint64_t memory_bytes,
                                   std::size_t threads);

}  // namespace octavo
