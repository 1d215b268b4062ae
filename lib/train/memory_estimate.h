// Estimates how much memory a training holds, from its options and the graph, before any work; and divides its tables
// to fit a memory limit.
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
  std::uint64_t tables = 0;      // resident embeddings and optimizer state, partitions in transfer, relations
  std::uint64_t edges = 0;       // a pool, its windows and the block index
  std::uint64_t gradients = 0;   // of a batch's chunks, and of rows summed over several batches
  std::uint64_t workers = 0;     // scratch of each thread
  std::uint64_t validation = 0;  // the least for ranking valid edges, with the graph and run that this opens
  std::uint64_t program = 0;     // code, libraries, looked-up names

  std::uint64_t total() const { return tables + edges + gradients + workers + validation + program; }
};

// With `hold_all` the tables are in memory as a whole, whatever the shape.
MemoryEstimate EstimateTrainingMemory(const TrainOptions& options, const GraphDescription& graph, int threads,
                                      const PartitionShape& shape, bool hold_all = false);

// Whether the tables stay in memory: without lanes by their shape. With lanes, which come in turn, if all of them fit:
// the shape is that of a lane, and the result does not depend on what else is in memory.
bool HoldsAllTables(const TrainOptions& options, const GraphDescription& graph, int threads,
                    const PartitionShape& shape, std::uint64_t memory);

// Whether a process of several, which trains so many of the lanes, has room for what all of them use in a round.
bool HoldsLanes(const TrainOptions& options, const GraphDescription& graph, int threads, const PartitionShape& shape,
                std::uint32_t lanes, std::uint64_t memory);

// The capacity of the gradients' file: the chunks of a batch and, if several batches make an update, the rows that they
// touch.
GradientCapacity GradientCapacityOf(const TrainOptions& options, const GraphDescription& graph,
                                    const PartitionShape& shape);

// Returns a usage error with both figures if the estimate is above `limit` bytes.
absl::Status CheckMemory(const MemoryEstimate& estimate, std::uint64_t limit);

// Returns the division of the tables for `memory` bytes; with lanes that of a lane, which depends on the options only.
// It depends only on options, graph and memory, so the number of threads does not change the bits. Returns a usage
// error if no division fits, or if it does not fit with this many threads.
absl::StatusOr<PartitionShape> ChooseShape(const TrainOptions& options, const GraphDescription& graph,
                                           std::uint64_t memory, int threads);

}  // namespace octavo
