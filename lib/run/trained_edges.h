// The edges that are trained where these are not those of the graph: those that a warm start with `edges new` trains,
// or the pairs of nodes of walks.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "format/known_rows.h"
#include "graph/graph.h"
#include "run/options.h"
#include "walk/walk_options.h"

namespace octavo {

// The walks of `options`. REQUIRES: options.walk is not kNone
WalkOptions WalksOf(const TrainOptions& options, const GraphDescription& graph);

// At most so many edges are trained in an epoch.
std::uint64_t MostTrainedEdges(const TrainOptions& options, const GraphDescription& graph);

// Takes the walks of `options` within `memory_bytes` and writes their pairs, weighted by how often they met, as a cell
// file at `path`; opens it. The bytes do not depend on memory or threads. Temporary files are in the same folder.
// Parallel. `stop` as below. `warn`, which may be empty, is called with a sentence if most walks ended early.
absl::StatusOr<CellReader> WriteTrainedPairs(const Graph& graph, const TrainOptions& options,
                                             std::uint64_t memory_bytes, const std::filesystem::path& path,
                                             const std::function<bool()>& stop = {},
                                             const std::function<void(std::string_view)>& warn = {});

// Writes the training edges with a node, or with `relations` a relation, that is not in `known` to a cell file of the
// same layout at `path`, in their order, and opens it. Each process makes it again: it depends only on graph and marks.
// No such edge is a usage error. Holds one block at a time. `stop`, which may be empty, is called for each block; true
// ends this with absl::CancelledError.
absl::StatusOr<CellReader> WriteTrainedEdges(const Graph& graph, const KnownRows& known, bool relations,
                                             const std::filesystem::path& path, const std::function<bool()>& stop = {});

}  // namespace octavo
