// What one chunk of edges does, whatever the schedule: draws the negatives that its edges share, copies the rows out of
// the tables, computes loss and gradients, and lists the gradients by row.
//
// Deterministic: negatives and dropped floats are drawn by counter (seed, epoch, batch, chunk, side) and each chunk
// computes on its own. With options.known_negatives the first of a side are the known nodes of the chunk: among few
// uniform ones of many nodes hardly any would be its edge's own, and a model that never learns to tell a node from its
// answer ranks it first in every symmetric relation.
//
// With options.group_queries the edges are the entries of prefetch/epoch_order.h, two of each edge: only their tails
// are corrupted, and those that stand together with one head and relation are a group, which shares a query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "format/known_rows.h"
#include "graph/graph.h"
#include "model/chunk_kernel.h"
#include "model/negatives.h"
#include "tables/contributions.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "train/options.h"
#include "train/relation_gradients.h"

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

// The rows of nodes that a chunk works on. E edges, N negatives a side, none of the head side in groups.
struct ChunkRows {
  std::vector<float> heads;                           // [E, dim], or of groups [G, dim]
  std::vector<float> tails;                           // [E, dim]
  std::vector<float> weights;                         // [E]
  std::vector<float> tail_negatives, head_negatives;  // [N, dim]
  std::vector<MaskedPair> tail_masks, head_masks;
  std::vector<float> relations, head_relations;  // [E, width], or of groups [G, width] and none
  std::vector<std::uint32_t> edge_relations;     // [E]
};

// What comes of a chunk.
struct ChunkResult {
  std::vector<std::uint32_t> begins;  // of groups (model/chunk_kernel.h); empty: none
  std::vector<NodeId> tail_negative_ids, head_negative_ids;
  std::vector<float> heads, tails, relations, head_relations, tail_negatives, head_negatives;  // gradients
  // Where the gradients of negatives are factors (KeepsFactors): tail_negatives and head_negatives are the slopes.
  std::vector<float> tail_queries, head_queries;  // [Q, FactorStride(dim)]
  GradientProduct tail_product, head_product;     // of them, in this result
  std::vector<float> all_relations;               // gradients of relation prediction
  struct Piece {
    ChunkLoss loss;
    absl::Status status;
  };
  std::vector<Piece> pieces;
  ChunkLoss loss;  // of all pieces
  absl::Status status;
};

// Whether chunks leave the gradients of negatives as factors (model/chunk_kernel.h). Where queries are few beside
// dimensions that is less to keep; the bits are the same. In `async`, and in sums over batches, a gradient is used on
// its own.
bool KeepsFactors(const TrainOptions& options);

// In how many pieces each chunk of a batch is computed: more than one where there are `chunks` of them, too few for
// some threads. Not a function of the threads, as losses are added by piece.
std::size_t PiecesOf(const TrainOptions& options, std::uint64_t chunks);
// Above so many chunks there is one piece to each.
inline constexpr std::uint64_t kMostChunksInPieces = 4;

// A worker's own, allocated once for a size and kept.
struct ChunkScratch {
  explicit ChunkScratch(const TrainOptions& options);
  ChunkKernel kernel;
  // Of a piece, counted from its own first query and edge.
  std::vector<MaskedPair> tail_masks, head_masks;
  std::vector<std::uint32_t> begins;
};

// Threads: everything const may be called from many threads, each with rows, result and scratch of its own.
class ChunkWork {
 public:
  // Everything is borrowed. Gradients of rows that are `frozen` are not listed.
  ChunkWork(const TrainOptions& options, const Graph& graph, const MmapManager& embeddings,
            const RelationTable& relations, const KnownRows* frozen = nullptr);

  // Says which nodes are in memory from now on: negatives are drawn from them. REQUIRES: at least one; ranges ascend
  void SetResidentNodes(std::vector<NodeRange> nodes);
  std::span<const NodeRange> resident_nodes() const { return resident_; }

  std::size_t ChunkCount(std::size_t edges) const {
    return (edges + options_.EntriesPerChunk() - 1) / options_.EntriesPerChunk();
  }
  ChunkPlace PlaceOf(const BatchPlace& batch, std::span<const Edge> edges, std::size_t chunk) const;

  // Draws the negatives and makes room for the gradients. From here on the gradients may be listed.
  void Draw(const ChunkPlace& place, ChunkResult& result) const;
  // Behind it, copies the nodes' rows, which but in `async` no thread may update meanwhile. A failure is result.status.
  void Gather(const ChunkPlace& place, ChunkRows& rows, ChunkResult& result) const;

  // Computes loss and gradients of gathered rows with the relations' rows as they are now. A loss that is not finite is
  // result.status, an error that names batch, relation and nodes. Does nothing where the status is an error already.
  void Compute(const ChunkPlace& place, ChunkRows& rows, ChunkScratch& scratch, ChunkResult& result) const;

  // The same in pieces, some of the queries each against all negatives, where a batch has too few chunks for the
  // threads: Prepare, then each piece by any thread, then Conclude. Gradients have the same bits in any number of
  // pieces.
  void Prepare(const ChunkPlace& place, std::size_t pieces, ChunkRows& rows, ChunkResult& result) const;
  void ComputePiece(const ChunkPlace& place, const ChunkRows& rows, std::size_t piece, ChunkScratch& scratch,
                    ChunkResult& result) const;
  void Conclude(ChunkResult& result) const;

  // Appends the chunk's gradients, each with its row: of nodes, and of relations, but of frozen ones. Where they are is
  // known behind Draw, what they are behind Compute.
  void ListNodes(const ChunkPlace& place, const ChunkResult& result, std::vector<Contribution>& contributions) const;
  void ListRelations(const ChunkPlace& place, const ChunkResult& result,
                     std::vector<RelationContribution>& contributions) const;

 private:
  void DrawNegatives(const ChunkPlace& place, ChunkResult& result) const;
  absl::Status GatherRows(std::span<const Edge> edges, const ChunkResult& result, ChunkRows& rows) const;
  void GatherRelations(std::span<const Edge> edges, const ChunkResult& result, ChunkRows& rows) const;
  void MakeRoom(std::size_t edges, ChunkResult& result) const;
  ChunkInput InputOf(const ChunkPlace& place, const ChunkRows& rows, const ChunkResult& result) const;
  ChunkGradients GradientsOf(ChunkResult& result) const;
  std::uint64_t HeadSideRelation(RelationId relation) const;
  // Of relation prediction: inverse relations are asked for in groups only.
  std::uint64_t PredictedRelations() const;
  absl::Status ExplainLoss(const ChunkPlace& place, const ChunkInput& input, const ChunkLoss& loss) const;
  std::string Describe(const Edge& edge) const;

  const TrainOptions& options_;
  const Graph& graph_;
  const MmapManager& embeddings_;
  const RelationTable& relations_;
  const KnownRows* const frozen_;
  const ModelSpec model_;
  const bool factored_;
  std::vector<NodeRange> resident_;
  std::size_t negatives_ = 0;  // a side
};

}  // namespace octavo
