// Merges sequences of edges, each in final order, into one.
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

// Reads one sequence for a merge.
class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  // Returns some more edges, valid until the next call; none at the end.
  virtual absl::StatusOr<std::span<const EdgeRecord>> Next() = 0;
};

// Edges in memory, which must outlive the source.
std::unique_ptr<EdgeSource> SourceOf(std::span<const EdgeRecord> edges);
// An extent of a spill file: consecutive EdgeRecords.
std::unique_ptr<EdgeSource> SourceOf(const SpillFile& file, SpillExtent extent, std::size_t buffer_bytes);

using EdgeSink = std::function<absl::Status(std::uint32_t cell, const EdgeRecord& edge)>;
using EdgeTick = std::function<absl::Status(std::uint64_t edges)>;

// Passes all edges of `sources` to `out`, ordered by cell and OrderedBefore. `tick`, if set, is called regularly with
// the number of edges since the last call. An error of either ends the merge. One thread.
absl::Status MergeEdges(std::vector<std::unique_ptr<EdgeSource>> sources, const PartitionLayout& partitions,
                        const EdgeSink& out, const EdgeTick& tick);

}  // namespace octavo
