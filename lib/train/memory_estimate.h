// How much memory a training holds, from its options and the graph, before any work; and how its tables are divided so
// that it is no more than allowed.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "plan/epoch_plan.h"
#include "run/options.h"
#include "tables/mmap_gradient_accumulator.h"

namespace octavo {

struct MemoryEstimate {
  std::uint64_t tables = 0;      // resident embeddings and optimizer state, what is in flight, relations
  std::uint64_t edges = 0;       // a pool, its windows and the block index
  std::uint64_t gradients = 0;   // of a batch's chunks and of several batches' rows
  std::uint64_t workers = 0;     // scratch of each thread
  std::uint64_t validation = 0;  // the least of a ranking of valid edges, and the graph and run that it opens
  std::uint64_t program = 0;     // code, libraries, names that are looked up

  std::uint64_t total() const { return tables + edges + gradients + workers + validation + program; }
};

MemoryEstimate EstimateTrainingMemory(const TrainOptions& options, const GraphDescription& graph, int threads,
                                      const PartitionShape& shape);

// What the file of gradients has room for: the chunks of a batch and, where several batches make an update, their rows.
GradientCapacity GradientCapacityOf(const TrainOptions& options, const GraphDescription& graph,
                                    const PartitionShape& shape);

// A usage error with both figures where the estimate is above `limit` bytes.
absl::Status CheckMemory(const MemoryEstimate& estimate, std::uint64_t limit);

// Returns how the options and `memory` bytes divide the tables: a function of these and the graph alone, so that the
// number of threads has no part in the bits. A usage error where they do not fit, or where as many threads do not.
absl::StatusOr<PartitionShape> ChooseShape(const TrainOptions& options, const GraphDescription& graph,
                                           std::uint64_t memory, int threads);

}  // namespace octavo
