// Merges runs of edges that are in their final order, each within itself, into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/cell_sorter.h"
#include "cells/edge_record.h"
#include "cells/spill_file.h"

namespace octavo {

// Where a merge takes one run from.
class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  // Returns some more edges, valid until the next call; none at the end.
  virtual absl::StatusOr<std::span<const EdgeRecord>> Next() = 0;
};

// A run in memory, which must outlive the source.
std::unique_ptr<EdgeSource> SourceOf(std::span<const EdgeRecord> run);
// A run in a spill file, as EdgeRecords one behind the other.
std::unique_ptr<EdgeSource> SourceOf(const SpillFile& file, SpillExtent run, std::size_t buffer_bytes);

using EdgeSink = std::function<absl::Status(std::uint32_t cell, const EdgeRecord& edge)>;
using EdgeTick = std::function<absl::Status(std::uint64_t edges)>;

// Gives all edges of `sources` to `out`, by cell and OrderedBefore. `tick`, if there is one, is called now and then
// with the edges given since the last call. An error of either ends the merge. One thread.
absl::Status MergeEdges(std::vector<std::unique_ptr<EdgeSource>> sources, const PartitionLayout& partitions,
                        const EdgeSink& out, const EdgeTick& tick);

}  // namespace octavo
