// A graph for a search on a graph without valid edges: some of its training edges become valid edges.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "graph/graph.h"

namespace octavo {

// The share of the training edges that is held out: a twentieth, or as much as makes 100 edges, at most a fifth; of
// large graphs less, about 5,000 edges.
double HeldOutShare(std::uint64_t train_edges);

// Makes the graph folder `folder`, unless it is there: nodes, ids, names and test edges are those of `graph`; its valid
// edges are about HeldOutShare of the training edges, the others are its training edges. All edges between the same two
// nodes stay together, so that none is known from its opposite. A function of graph and seed. Returns the description.
// Reads and writes the edges block by block. A graph of too few edges is a usage error. `stop`, which may be empty,
// ends this with absl::CancelledError. REQUIRES: `graph` has training edges and no valid edges
absl::StatusOr<GraphDescription> MakeHeldOutGraph(const Graph& graph, std::uint64_t seed,
                                                  const std::filesystem::path& folder,
                                                  const std::function<bool()>& stop = {});

// Returns between how many pairs of nodes the valid edges of `graph` are. What is held out is held out by pairs, so the
// edges of one pair are one sample. Holds all pairs in memory.
absl::StatusOr<std::uint64_t> CountValidPairs(const Graph& graph);

}  // namespace octavo
