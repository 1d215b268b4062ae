// How much memory a training holds, from its options and the graph, before any work; and how its tables are divided so
// that it is no more than allowed.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "plan/epoch_plan.h"
#include "train/options.h"

namespace octavo {

// Measured on an idle program with its libraries and TBB's arenas, rounded up.
inline constexpr std::uint64_t kProgramBytes = std::uint64_t{48} << 20;

struct MemoryEstimate {
  std::uint64_t tables = 0;      // resident embeddings and optimizer state, what is in flight, relations
  std::uint64_t edges = 0;       // windows of edges and the block index
  std::uint64_t gradients = 0;   // of a batch's chunks and of the accumulation window
  std::uint64_t workers = 0;     // scratch of each thread
  std::uint64_t validation = 0;  // the least of a ranking of valid edges, and the graph and run that it opens
  std::uint64_t program = 0;     // code, libraries, names that are looked up

  std::uint64_t total() const { return tables + edges + gradients + workers + validation + program; }
};

// Bytes of a node's rows in all tables.
std::uint64_t NodeBytes(const TrainOptions& options);

MemoryEstimate EstimateTrainingMemory(const TrainOptions& options, const GraphDescription& graph, int threads,
                                      const PartitionShape& shape);

// Rows whose sums of gradients an accumulation window keeps at most; one of a single batch keeps none.
std::uint64_t MaxWindowRows(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& shape);

// A usage error with both figures where the estimate is above `limit` bytes.
absl::Status CheckMemory(const MemoryEstimate& estimate, std::uint64_t limit);

// Returns how the options and `memory` bytes divide the tables: a function of these and the graph alone, so that the
// number of threads has no part in the bits. A usage error where they do not fit, or where as many threads do not.
absl::StatusOr<PartitionShape> ChooseShape(const TrainOptions& options, const GraphDescription& graph,
                                           std::uint64_t memory, int threads);

}  // namespace octavo
