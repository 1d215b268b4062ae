// The work on one chunk of edges, the same in every schedule: draws the negatives that its edges share, copies rows
// from the tables, computes loss and gradients, and lists the gradients with their rows.
//
// Deterministic: chunks are independent, and negatives and dropped floats are drawn from a counter (seed, epoch, batch,
// chunk, side). With options.known_negatives the first negatives of a side are the anchors of the chunk's queries:
// among a few uniform draws from many nodes, an edge's own anchor hardly ever occurs. A model that never learns to
// distinguish an anchor from its answers ranks the anchor first in every symmetric relation. With
// options.typed_fraction the last negatives are nodes at the places of the chunk's edges.
//
// E edges have Q queries (model/chunk.h). Without options.group_queries, Q = E, and both sides are corrupted. With it,
// the edges are the entries of prefetch/query_groups.h, two per edge; only tails are corrupted, and adjacent entries
// with the same head and relation share a query. An entry (t, r^-1, h) is scored with the row of the inverse relation;
// without reciprocal relations with that of r, by the query for (?, r, t).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/aligned_floats.h"
#include "base/edge.h"
#include "base/random.h"
#include "format/known_rows.h"
#include "graph/graph.h"
#include "model/chunk_kernel.h"
#include "model/negatives.h"
#include "run/options.h"
#include "tables/mmap_gradient_accumulator.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "train/answer_weights.h"
#include "train/divergence.h"
#include "train/node_groups.h"
#include "train/place_nodes.h"
#include "train/relation_gradients.h"

namespace octavo {

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

// The rows of a chunk, copied from the tables. N negatives per side; everything of the head side is empty if only tails
// are corrupted.
struct ChunkRows {
  AlignedFloats heads;                            // [Q, dim]
  AlignedFloats tails;                            // [E, dim]
  std::vector<float> weights;                     // [E]
  std::vector<float> tail_weights, head_weights;  // [E]; empty without answer weights
  AlignedFloats tail_negatives, head_negatives;   // [N, dim]; with bf16 products scratch of some rows
  struct Packed {
    AlignedFloats columns, rows;  // PackedNegatives
  };
  Packed tail_packed, head_packed;  // with bf16 products only
  std::vector<MaskedPair> tail_masks, head_masks;
  ChunkGroups tail_groups, head_groups;
  std::vector<float> relations, head_relations;  // [Q, width]
  std::vector<Side> sides;                       // [Q], with groups and without reciprocal relations
  std::vector<std::uint32_t> edge_relations;     // [E]
};

// The result of a chunk. The gradients are in its block (tables/mmap_gradient_accumulator.h).
struct ChunkResult {
  ChunkPlace place;
  ChunkShape shape;
  std::vector<std::uint32_t> begins;  // [Q + 1], of queries (model/chunk.h)
  std::vector<NodeId> tail_negative_ids, head_negative_ids;
  ChunkGradients gradients;
  GradientProduct tail_product, head_product;  // if the gradients of negatives are factors (KeepsFactors)
  struct Piece {
    ChunkLoss loss;
    absl::Status status;
  };
  std::vector<Piece> pieces;  // as many as the caller wants, where it is computed in pieces
  ChunkLoss loss;
  absl::Status status;
};

// Whether chunks leave the gradients of negatives as factors (model/chunk.h). Where queries are few beside
// dimensions that is less to keep, except in tiny chunks; the bits are the same. In `async`, and in sums over batches,
// a gradient is used on its own.
bool KeepsFactors(const TrainOptions& options);

// The number of floats in a chunk's block, and the gradients in it. REQUIRES: block.size() is BlockFloats of that shape
std::uint64_t BlockFloats(const TrainOptions& options, const ChunkShape& shape);
ChunkGradients GradientsIn(std::span<float> block, const TrainOptions& options, const ChunkShape& shape);

// The number of pieces in which each of a batch's `chunks` chunks is computed: more than one if there are too few
// chunks to occupy many threads. Does not depend on the number of threads, as losses are added by piece.
std::size_t PiecesOf(const TrainOptions& options, std::uint64_t chunks);
// With more chunks than this, each is one piece.
inline constexpr std::uint64_t kMostChunksInPieces = 4;

// Makes a kernel for one worker. It keeps its scratch.
ChunkKernel MakeKernel(const TrainOptions& options, std::uint64_t nodes);

// Threads: everything const may be called from many threads, each with its own rows, result and kernel.
class ChunkWork {
 public:
  // All arguments must outlive this. Gradients of `frozen` rows are not listed. Without `places`, as in a measurement
  // of speed, typed negatives are uniform. Without `answers`, losses have the weights of the edges.
  ChunkWork(const TrainOptions& options, const Graph& graph, const MmapManager& embeddings,
            const RelationTable& relations, const KnownRows* frozen = nullptr, const PlaceNodes* places = nullptr,
            const AnswerWeights* answers = nullptr);

  // Sets the nodes in memory, from which negatives are drawn, and their groups. REQUIRES: at least one; ranges ascend
  void SetResidentNodes(std::vector<NodeRange> nodes, NodeGroups groups = {});
  std::span<const NodeRange> resident_nodes() const { return resident_; }

  std::size_t ChunkCount(std::size_t edges) const {
    return (edges + options_.EntriesPerChunk() - 1) / options_.EntriesPerChunk();
  }

  // Begins chunk `chunk` of a batch of `edges`: finds the queries and draws the negatives, which gives the chunk its
  // shape. `edges` must outlive the use of the result.
  void Draw(const BatchPlace& batch, std::span<const Edge> edges, std::size_t chunk, ChunkResult& result) const;
  // After Draw: sets the block, of BlockFloats floats, for the chunk's gradients. After this they may be listed.
  void TakeBlock(std::span<float> block, ChunkResult& result) const;
  // After Draw: finds the pairs that are masked and copies the rows. Except in `async`, no thread may write those of
  // nodes meanwhile. A failure is result.status.
  void Gather(ChunkRows& rows, ChunkResult& result) const;

  // Computes loss and gradients of gathered rows. A loss that is not finite is result.status, an error that names
  // batch, relation and nodes. Does nothing where the status is an error already.
  void Compute(const ChunkRows& rows, ChunkKernel& kernel, ChunkResult& result) const;

  // The same in pieces, some of the queries each against all negatives, where a batch has too few chunks for the
  // threads: each of result.pieces by any thread, then Conclude. Gradients have the same bits in any number of pieces.
  void ComputePiece(const ChunkRows& rows, std::size_t piece, ChunkKernel& kernel, ChunkResult& result) const;
  void Conclude(ChunkResult& result) const;

  // List the chunk's gradients of nodes and of relations, each with its row, except frozen rows. Their addresses are
  // valid after TakeBlock, their values after Compute.
  void ListNodes(const ChunkResult& result, GradientsByNode& gradients) const;
  void ListRelations(const ChunkResult& result, std::vector<RelationContribution>& contributions) const;

 private:
  // A stream for each (epoch, batch, chunk, side).
  RandomStream StreamOf(RandomPurpose purpose, const ChunkPlace& place, Side side) const;
  void DrawNegatives(ChunkResult& result) const;
  void DrawTyped(const ChunkPlace& place, Side side, std::span<NodeId> negatives) const;
  absl::Status GatherRows(const ChunkResult& result, ChunkRows& rows) const;
  // Gathers rows that are packed as words one by one; `wide` is scratch for `async`.
  absl::Status PackNegativeRows(std::span<const NodeId> ids, AlignedFloats& wide, ChunkRows::Packed& packed) const;
  void GatherRelations(const ChunkResult& result, ChunkRows& rows) const;
  ChunkInput InputOf(const ChunkRows& rows, const ChunkResult& result) const;
  absl::Status ComputeInput(const ChunkInput& input, const ChunkGradients& gradients, const ChunkPlace& place,
                            ChunkKernel& kernel, ChunkLoss& loss) const;
  // Whether (?, r, t) is trained by a head-side query. Grouped, it is an entry (t, r^-1, ?) instead.
  bool corrupts_heads() const { return !options_.group_queries; }
  // Whether the relation of an entry is an inverse one that has no row.
  bool turned(RelationId relation) const { return !options_.reciprocal && Value(relation) >= graph_.relation_count(); }
  std::uint64_t TailSideRelation(RelationId relation) const;
  std::uint64_t HeadSideRelation(RelationId relation) const;
  // For relation prediction: inverse relations are predicted only with groups.
  std::uint64_t PredictedRelations() const;

  const TrainOptions& options_;
  const Graph& graph_;
  const MmapManager& embeddings_;
  const RelationTable& relations_;
  const KnownRows* const frozen_;
  const ModelSpec model_;
  const std::optional<Bf16Backend> bf16_;  // of the products, if their operands are bf16
  const PlaceNodes* const places_;
  const AnswerWeights* const answers_;
  std::vector<NodeRange> resident_;
  std::optional<PlaceNodes> resident_places_;  // unless all nodes are resident
  NodeGroups groups_;
  std::size_t negatives_ = 0;  // per side
};

}  // namespace octavo
