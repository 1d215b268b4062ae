// How much memory a training holds, from its options and the graph, before any work.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "train/options.h"

namespace octavo {

struct MemoryEstimate {
  std::uint64_t tables = 0;     // resident embeddings, optimizer state, relations
  std::uint64_t edges = 0;      // windows of edges and the block index
  std::uint64_t gradients = 0;  // of a batch's chunks and of the accumulation window
  std::uint64_t workers = 0;    // scratch of each thread
  std::uint64_t program = 0;    // code, libraries, names that are looked up

  std::uint64_t total() const { return tables + edges + gradients + workers + program; }
};

MemoryEstimate EstimateTrainingMemory(const TrainOptions& options, const GraphDescription& graph, int threads);

// Rows that one accumulation window can touch at most.
std::uint64_t MaxTouchedRows(const TrainOptions& options, const GraphDescription& graph);

// A usage error with both figures where the estimate is above `limit` bytes.
absl::Status CheckMemory(const MemoryEstimate& estimate, std::uint64_t limit);

// Bytes that this process may still take: 70 % of the least of the machine's available memory and what the limits of
// its control groups (v2 and v1) leave.
std::uint64_t DefaultMemoryLimit();

}  // namespace octavo
