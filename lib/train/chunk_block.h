// The place of a chunk in a batch, and the layout of its gradients in its block of the gradients' file
// (tables/mmap_gradient_accumulator.h).
#pragma once

#include <cstdint>
#include <span>

#include "base/edge.h"
#include "model/chunk.h"
#include "run/options.h"

namespace octavo {

struct BatchPlace {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
};

// Chunk `chunk` of a batch.
struct ChunkPlace {
  BatchPlace batch;
  std::uint64_t chunk = 0;
  std::span<const Edge> edges;           // of the chunk; twice as many with options.group_queries
  std::span<const Edge> edges_of_batch;  // negatives by degree are drawn from these
};

// The shape of a chunk: E edges, Q queries, N negatives per side, A predicted relations (0: none).
struct ChunkShape {
  std::uint64_t edges = 0;
  std::uint64_t queries = 0;
  std::uint64_t negatives = 0;
  std::uint64_t relations = 0;
};

// Whether chunks keep the gradients of negatives as factors (model/chunk.h). With fewer queries than dimensions the
// factors take less memory; the bits are the same. `async` and sums over batches need the gradients as rows.
bool KeepsFactors(const TrainOptions& options);

// The number of floats in a chunk's block, and the gradients in it. REQUIRES: block.size() is BlockFloats of that shape
std::uint64_t BlockFloats(const TrainOptions& options, const ChunkShape& shape);
ChunkGradients GradientsIn(std::span<float> block, const TrainOptions& options, const ChunkShape& shape);

}  // namespace octavo
