// The training edges that a warm start with `edges new` trains.
#pragma once

#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"
#include "format/known_rows.h"
#include "graph/graph.h"

namespace octavo {

// Writes the training edges with a node, or with `relations` a relation, that is not in `known` to a cell file of the
// same layout at `path`, in their order, and opens it. Each process makes it again: it depends only on graph and marks.
// No such edge is a usage error. Holds one block at a time. `stop`, which may be empty, is called for each block; true
// ends this with absl::CancelledError.
absl::StatusOr<CellReader> WriteTrainedEdges(const Graph& graph, const KnownRows& known, bool relations,
                                             const std::filesystem::path& path, const std::function<bool()>& stop = {});

}  // namespace octavo
