// Takes walks on a graph's training edges and writes the pairs of nodes that meet on them as weighted edges.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"
#include "cells/cell_stream.h"
#include "graph/graph.h"
#include "walk/walk_options.h"
#include "walk/walk_plan.h"

namespace octavo {

// The header of a walk graph's cells, except counts and checksums.
CellsHeader WalkCellsLayout(const GraphDescription& graph);

// Plans walks on `graph` within `memory_bytes` (0: no limit), which include the open graph. A usage error names the
// smallest sufficient memory.
absl::StatusOr<WalkPlan> PlanWalksOn(const Graph& graph, const WalkOptions& options, std::uint64_t memory_bytes);

struct WalkPairsCallbacks {
  std::function<bool()> stop{};  // any thread; true: return absl::CancelledError soon
  std::function<void(std::uint64_t done, std::uint64_t total)> walking{};  // walks; one thread at a time
  std::function<void(std::uint64_t done, std::uint64_t total)> writing{};  // pairs; one thread at a time
};

struct WalkPairs {
  WrittenEdges written;
  std::uint64_t walks = 0;
  std::uint64_t pairs = 0;  // counted in one direction
  std::uint64_t spilled_bytes = 0;
  double walk_seconds = 0;
};

// Writes train.cells, and empty cells for the other splits, into `folder`, with temporary files beside them. The bytes
// do not depend on the plan or the threads. The graph has one relation and fewer than 2^32 nodes. No pair is an input
// error. Parallel.
absl::StatusOr<WalkPairs> WriteWalkPairs(const Graph& graph, const WalkOptions& options, const WalkPlan& plan,
                                         const std::filesystem::path& folder, const WalkPairsCallbacks& callbacks);

// Returns a usage error unless walks can be taken on the graph.
absl::Status CheckWalkable(const Graph& graph);

}  // namespace octavo
