// Finds values that became infinite or NaN, and makes errors that name their places.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "model/chunk.h"
#include "model/negatives.h"
#include "run/options.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "train/chunk_block.h"

namespace octavo {

bool AllFinite(std::span<const float> row);

// Returns the error of a loss that is not finite. `input` is the chunk at `place`, or a piece of it. The error names
// batch, relation and nodes of the first edge whose loss is not finite when computed alone.
absl::Status LossDiverged(const TrainOptions& options, const Graph& graph, const ChunkPlace& place,
                          const ChunkInput& input, const ChunkLoss& loss);

// Returns an error that names the first relation, or node of `resident`, whose row is not finite, and the batch
// `place`. Nodes are checked only if `nodes` is true.
absl::Status CheckRowsFinite(const Graph& graph, const MmapManager& embeddings, const RelationTable& relations,
                             std::span<const NodeRange> resident, bool nodes, const BatchPlace& place);

}  // namespace octavo
