// The input and output of the chunk kernel (model/chunk_kernel.h): the rows of a chunk of edges, and their gradients.
//
// The anchor of a query is its given node: the head of (h, r, ?), the tail of (?, r, t).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/edge.h"
#include "base/random.h"
#include "model/negatives.h"

namespace octavo {

// The negatives of a side, or all relations, as operands of bf16 products (model/bf16_block.h), in place of their rows.
struct PackedNegatives {
  std::span<const float> columns;  // [D, N], a right operand; as words only if PacksColumns
  std::span<const float> rows;     // [N, D], a right operand; as words a left operand

  bool any() const { return !rows.empty(); }
};

// The groups of a lane, 0 or 1, that the nodes of a side are in. model/group_adjustment.h says what they do. With empty
// `negatives` there are no groups.
struct SideGroups {
  std::span<const std::uint8_t> anchors;    // [Q]
  std::span<const std::uint8_t> answers;    // [E]
  std::span<const std::uint8_t> negatives;  // [N]
  float log_share = 0;                      // of the edges within a group that are trained in a round; for a softmax
};

// The caller gathers the rows. All matrices are row-major. E edges, Q queries, N negatives per side, D = dim, R =
// RelationWidth().
//
// Edges [begins[q], begins[q + 1]), counted from begins[0], share query q; they have the same head and relation. With
// `corrupts_heads` (?, r, t) is trained, too; then Q = E, as each edge is its own query. Without it everything of the
// head side is empty, and `sides` says where an edge was turned around: then its "head" is the tail of the graph's
// edge.
struct ChunkInput {
  std::span<const std::uint32_t> begins;  // [Q + 1]
  std::size_t negatives = 0;
  std::span<const float> heads;           // [Q, D]
  std::span<const float> tails;           // [E, D]
  std::span<const float> relations;       // [Q, R], used for (h, r, ?)
  std::span<const float> head_relations;  // [Q, R], used for (?, r, t): the same rows, or those of the reciprocals
  std::span<const float> weights;         // [E]
  // [E], or empty: the weights of the losses of answers. If empty, `weights` are. Penalties and relation prediction
  // always use `weights`.
  std::span<const float> tail_weights = {};  // of (h, r, ?)
  std::span<const float> head_weights = {};  // of (?, r, t)
  std::span<const float> tail_negatives;     // [N, D], candidates for (h, r, ?)
  std::span<const float> head_negatives;     // [N, D], candidates for (?, r, t)
  // Instead of these two, with bf16 products. REQUIRES: HasInnerProducts, and a kernel with a backend
  PackedNegatives tail_packed = {};
  PackedNegatives head_packed = {};
  // Sorted by query. Queries count from first_query.
  std::span<const MaskedPair> tail_masks;
  std::span<const MaskedPair> head_masks;
  std::uint32_t first_query = 0;
  SideGroups tail_groups = {};
  SideGroups head_groups = {};
  bool corrupts_heads = true;
  // Without corrupts_heads, the side of the graph's edge that query q asks for, [Q]: kHead makes the query of the model
  // for (?, r, t), of the row in `heads`. Empty: kTail for all.
  std::span<const Side> sides = {};
  // Reciprocal relations: (?, r, t) is scored as (t, r^-1, ?), by the tail-side query of the tail row and
  // head_relations.
  bool reciprocal = false;
  // With competing answers (model/loss.h): the edges, with copies of an edge adjacent. [E], or empty.
  std::span<const Edge> answers = {};
  // For relation prediction: the rows of all A relations, and the relation of each edge.
  std::span<const float> all_relations = {};           // [A, R]
  std::span<const std::uint32_t> edge_relations = {};  // [E]
  // Draws the dropout masks: those of the tail side, then those of the head side.
  RandomStream dropout = RandomStream(0, RandomPurpose::kDropout, 0, 0);

  std::size_t queries() const { return begins.size() - 1; }
  std::size_t edges() const { return begins.back() - begins.front(); }
  // Returns the chunk with only queries [first, last), against all negatives: a view of the same rows. REQUIRES: first
  // < last
  ChunkInput Slice(std::size_t first, std::size_t last) const;
};

// Returns `begins` for edges that are each their own query.
std::vector<std::uint32_t> OneQueryEach(std::size_t edges);

// The gradients of a side's negatives as a product, if scores are inner products: the gradient of negative j is sum_i
// slopes[j, i] * queries[i]. With fewer queries than dimensions the factors take less memory, and rows that occur more
// than once can be summed while they are computed (tables/product_sums.h).
//
// With bf16 products both are packed: slopes are rows of a left operand, queries are a right operand.
struct NegativeFactors {
  std::span<float> slopes;       // [N, Q], row j beginning at j * stride; or Bf16LeftFloats(N, Q)
  std::span<float> queries;      // [Q, query_stride], zeros after D; or Bf16RightFloats(Q, D)
  std::size_t stride = 0;        // at least Q; or Bf16LeftStride(Q)
  std::size_t query_stride = 0;  // at least D
  std::size_t whole = 0;         // Q of the whole chunk
  std::size_t first = 0;         // the first query that is computed: a piece of a chunk writes its part of both

  bool wanted() const { return !queries.empty(); }
};

// Every element is overwritten. Sizes as in ChunkInput.
struct ChunkGradients {
  std::span<float> heads;               // [Q, D]
  std::span<float> tails;               // [E, D]
  std::span<float> relations;           // [Q, R]
  std::span<float> head_relations;      // [Q, R]
  std::span<float> tail_negatives;      // [N, D]
  std::span<float> head_negatives;      // [N, D]
  std::span<float> all_relations = {};  // [A, R], of relation prediction; the edges' own are in `relations`, too
  NegativeFactors tail_factors = {};    // if wanted, instead of tail_negatives; REQUIRES HasInnerProducts
  NegativeFactors head_factors = {};    // likewise

  // The gradients that queries [first, last) of `chunk` produce. Only with factors: gradients of negatives as rows are
  // sums over all queries.
  ChunkGradients Slice(const ChunkInput& chunk, std::size_t first, std::size_t last) const;
};

struct ChunkLoss {
  double loss = 0;     // sum over the edges of tail-side, head-side and relation's loss, each times its weight
  double penalty = 0;  // of the regularizer
};

}  // namespace octavo
