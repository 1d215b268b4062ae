// The training edges of a graph that a warm start has something to learn from.
#pragma once

#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"
#include "format/known_rows.h"
#include "graph/graph.h"

namespace octavo {

// Writes the training edges with a node, or with `relations` a relation, that is not known to a cell file of the same
// layout at `path`, in their order, and opens it. Each process makes it anew: a function of graph and marks alone.
// No such edge is a usage error. Holds a block at a time. `stop`, which may be empty, is asked at each: true ends it
// with absl::CancelledError.
absl::StatusOr<CellReader> WriteTrainedEdges(const Graph& graph, const KnownRows& known, bool relations,
                                             const std::filesystem::path& path, const std::function<bool()>& stop = {});

}  // namespace octavo
