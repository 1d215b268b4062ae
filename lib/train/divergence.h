// Finds values that became infinite or NaN, and makes errors that name their places.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "base/edge.h"
#include "graph/graph.h"
#include "model/chunk.h"
#include "model/negatives.h"
#include "run/options.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"

namespace octavo {

// Which batch; both count from 0.
struct BatchPlace {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
};

// The error of a loss that is not finite: of `input`, which is a chunk of `edges` in the batch `place`, or a piece of
// it. It names batch, relation and nodes of the first edge whose loss alone is not finite. Overwrites `gradients`,
// which are those of `input`.
absl::Status LossDiverged(const TrainOptions& options, const Graph& graph, const BatchPlace& place,
                          std::span<const Edge> edges, const ChunkInput& input, const ChunkGradients& gradients,
                          const ChunkLoss& loss);

// Returns an error that names the first relation, or node of `resident`, whose row is not finite, and the batch
// `place`. Nodes are checked only if `nodes` is true.
absl::Status CheckRowsFinite(const Graph& graph, const MmapManager& embeddings, const RelationTable& relations,
                             std::span<const NodeRange> resident, bool nodes, const BatchPlace& place);

}  // namespace octavo
