#include "model/chunk_kernel.h"

#include <algorithm>
#include <vector>

#include "base/aligned_floats.h"
#include "model/bf16_block.h"
#include "model/chunk_penalties.h"
#include "model/comparison.h"
#include "model/gemm.h"
#include "model/group_adjustment.h"
#include "model/relation_prediction.h"
#include "model/shared_queries.h"

namespace octavo {
namespace {

// Grows, never shrinks.
void Grow(AlignedFloats& memory, std::size_t size) {
  if (memory.size() < size) memory.resize(size);
}

// One corrupted side: the anchors of its queries, their targets, and the outputs for the gradients.
struct SideView {
  Side query_side;              // how queries are made; kTail for a reciprocal head side
  std::span<const Side> sides;  // the same of each query, if they differ
  std::span<const float> anchors;
  std::span<const float> relations;
  std::span<const float> weights;
  const float* targets;
  const float* negatives;
  const PackedNegatives& packed;
  std::span<const MaskedPair> masks;
  const SideGroups& groups;
  std::span<float> anchor_gradients;
  std::span<float> relation_gradients;
  float* target_gradients;
  float* negative_gradients;
  NegativeFactors factors;
  bool add;  // adds to the gradients of anchors and targets: the other side has written them
};

SideView TailSide(const ChunkInput& in, const ChunkGradients& out) {
  return {.query_side = Side::kTail,
          .sides = in.sides,
          .anchors = in.heads,
          .relations = in.relations,
          .weights = in.tail_weights.empty() ? in.weights : in.tail_weights,
          .targets = in.tails.data(),
          .negatives = in.tail_negatives.data(),
          .packed = in.tail_packed,
          .masks = in.tail_masks,
          .groups = in.tail_groups,
          .anchor_gradients = out.heads,
          .relation_gradients = out.relations,
          .target_gradients = out.tails.data(),
          .negative_gradients = out.tail_negatives.data(),
          .factors = out.tail_factors,
          .add = false};
}

SideView HeadSide(const ChunkInput& in, const ChunkGradients& out) {
  return {.query_side = in.reciprocal ? Side::kTail : Side::kHead,
          .sides = {},
          .anchors = in.tails,
          .relations = in.head_relations,
          .weights = in.head_weights.empty() ? in.weights : in.head_weights,
          .targets = in.heads.data(),
          .negatives = in.head_negatives.data(),
          .packed = in.head_packed,
          .masks = in.head_masks,
          .groups = in.head_groups,
          .anchor_gradients = out.tails,
          .relation_gradients = out.head_relations,
          .target_gradients = out.heads.data(),
          .negative_gradients = out.head_negatives.data(),
          .factors = out.head_factors,
          .add = true};
}

// Calls use(side, first, count) for each run of queries that are made alike, a few at a time: what one step writes of
// them is mostly still in the first-level cache when the next step reads it.
template <typename Use>
void ForEachRun(const SideView& view, std::size_t queries, const Use& use) {
  constexpr std::size_t kMost = 8;
  const auto side_of = [&view](std::size_t q) { return view.sides.empty() ? view.query_side : view.sides[q]; };
  for (std::size_t first = 0; first < queries;) {
    std::size_t end = first + 1;
    while (end < queries && end - first < kMost && side_of(end) == side_of(first)) ++end;
    use(side_of(first), first, end - first);
    first = end;
  }
}

// BackpropagateBlock for inner products that keeps the gradients of the negatives as factors.
void BackpropagateFactors(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* negatives,
                          const float* g, float* query_gradients, const NegativeFactors& factors) {
  Gemm(n, dim, m, {g, m}, {negatives, dim}, query_gradients, dim, false);
  Transpose(n, m, g, m, factors.slopes.data() + factors.first, factors.stride);
  for (std::size_t i = 0; i < n; ++i) {
    float* const row = factors.queries.data() + (factors.first + i) * factors.query_stride;
    std::fill(std::copy_n(queries + i * dim, dim, row), row + factors.query_stride, 0.0F);
  }
}

}  // namespace

bool HasInnerProducts(const ModelSpec& model) { return ComparisonOf(model) == Comparison::kInner; }

// E edges, Q queries, N negatives, D = dim.
struct ChunkKernel::Scratch {
  Scratch(const ModelSpec& model, float relation_prediction, Bf16Backend backend)
      : bf16(backend), relations(model, relation_prediction) {}

  // For a chunk of these shapes.
  void MakeRoom(const ChunkInput& input, std::size_t dim, bool packed, bool keep_scores, bool shared) {
    const std::size_t n = input.queries();
    const std::size_t pairs = n * input.negatives;
    Grow(queries, n * dim);
    Grow(query_gradients, n * dim);
    Grow(scores, packed ? Bf16LeftFloats(n, input.negatives) : pairs);
    if (keep_scores) Grow(distances, pairs);
    Grow(positives, input.edges());
    Grow(positive_gradients, input.edges());
    if (shared) Grow(edge_queries, input.edges() * dim);
    if (shared) Grow(edge_gradients, input.edges() * dim);
  }

  // From the slopes in `scores` to the queries' gradients, overwritten, and to those of the side's negatives.
  void Backpropagate(Comparison comparison, std::size_t dim, std::size_t n, std::size_t m, const SideView& side) {
    float* const slopes = scores.data();
    float* const of_queries = query_gradients.data();
    if (side.packed.any() && side.factors.wanted()) {
      bf16.BackpropagateFactors(dim, n, queries.data(), m, side.packed, slopes, of_queries, side.factors);
    } else if (side.packed.any()) {
      bf16.Backpropagate(dim, n, queries.data(), m, side.packed, slopes, of_queries, side.negative_gradients);
    } else if (side.factors.wanted()) {
      BackpropagateFactors(dim, n, queries.data(), m, side.negatives, slopes, of_queries, side.factors);
    } else {
      BackpropagateBlock(comparison, dim, n, queries.data(), m, side.negatives, distances.data(), block, slopes,
                         of_queries, side.negative_gradients);
    }
  }

  AlignedFloats queries;             // [Q, D]
  AlignedFloats query_gradients;     // [Q, D]
  AlignedFloats scores;              // [Q, N], then the gradients of the scores, then these packed for bf16
  AlignedFloats distances;           // [Q, N], a copy of the scores if backpropagation reads them
  AlignedFloats positives;           // [E]
  AlignedFloats positive_gradients;  // [E]
  AlignedFloats edge_queries;        // [E, D], with shared queries: the query of each edge
  AlignedFloats edge_gradients;      // [E, D]
  DroppedRows dropped;
  GroupAdjustment groups;
  ScoreScratch block;
  Bf16Block bf16;
  RelationPrediction relations;
};

ChunkKernel::ChunkKernel(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer,
                         const DropoutSpec& dropout, float relation_prediction, std::optional<Bf16Backend> bf16)
    : model_(model),
      loss_(loss),
      regularizer_(regularizer),
      dropout_(dropout),
      scratch_(std::make_unique<Scratch>(model, relation_prediction, bf16.value_or(Bf16Backend::kScalar))) {}

ChunkKernel::~ChunkKernel() = default;
ChunkKernel::ChunkKernel(ChunkKernel&&) noexcept = default;

ChunkLoss ChunkKernel::Compute(const ChunkInput& input, const ChunkGradients& gradients) {
  const std::size_t edges = input.edges();
  const std::size_t queries = input.queries();
  const std::size_t negatives = input.negatives;
  const std::size_t dim = model_.dim;
  const std::size_t width = model_.RelationWidth();
  const Comparison comparison = ComparisonOf(model_);
  const bool keep_scores = comparison == Comparison::kEuclidean;
  Scratch& s = *scratch_;
  const bool packed = input.tail_packed.any();
  // If each edge is its own query, the rows of edges are those of queries.
  const bool shared = !input.corrupts_heads;
  s.MakeRoom(input, dim, packed, keep_scores, shared);
  const float* const edge_queries = shared ? s.edge_queries.data() : s.queries.data();
  float* const edge_gradients = shared ? s.edge_gradients.data() : s.query_gradients.data();
  const bool drops = dropout_.any();
  RandomStream dropout = input.dropout;

  ChunkLoss result;
  const auto compute_side = [&](const SideView& side) {
    // Scores of each edge's answer, [E], and of each query with all negatives, [Q, N].
    if (drops) s.dropped.Drop(dropout_, dropout, side.anchors, side.relations);
    const float* const anchors = drops ? s.dropped.anchors() : side.anchors.data();
    const float* const relations = drops ? s.dropped.relations() : side.relations.data();
    const auto compare_answers = [&](std::size_t first, std::size_t count) {
      CompareRows(comparison, dim, count, edge_queries + first * dim, side.targets + first * dim,
                  s.positives.data() + first);
    };
    ForEachRun(side, queries, [&](Side made, std::size_t first, std::size_t count) {
      MakeQueries(model_, made, count, anchors + first * dim, relations + first * width,
                  s.queries.data() + first * dim);
      if (!shared) compare_answers(first, count);
    });
    if (shared) SpreadToEdges(input.begins, dim, s.queries.data(), s.edge_queries.data());
    if (shared) compare_answers(0, edges);
    if (packed) {
      s.bf16.Score(dim, queries, s.queries.data(), negatives, side.packed, s.scores.data());
    } else {
      CompareBlock(comparison, dim, queries, s.queries.data(), negatives, side.negatives, s.block, s.scores.data());
    }
    if (keep_scores) std::copy_n(s.scores.data(), queries * negatives, s.distances.data());
    for (const MaskedPair& pair : side.masks) {
      s.scores[(pair.query - input.first_query) * negatives + pair.negative] = kMaskedScore;
    }
    const std::span<const float> positives =
        s.groups.Apply(loss_.kind, side.groups, input.begins, std::span(s.positives).first(edges), std::span(s.scores));

    // Their slopes, in place.
    result.loss +=
        LossAndGradient(loss_, positives, side.weights, std::span(s.scores).first(queries * negatives), negatives,
                        std::span(s.positive_gradients).first(edges), input.begins, input.answers);

    // Backpropagate to negatives and queries, [Q, D].
    s.Backpropagate(comparison, dim, queries, negatives, side);
    // Through the edges' answers, which adds to the queries' gradients.
    const auto backpropagate_answers = [&](std::size_t first, std::size_t count) {
      const std::size_t row = first * dim;
      BackpropagateRows(comparison, dim, count, edge_queries + row, side.targets + row, s.positives.data() + first,
                        s.positive_gradients.data() + first, edge_gradients + row, side.add,
                        side.target_gradients + row);
    };
    if (shared) {
      std::fill_n(s.edge_gradients.data(), edges * dim, 0.0F);
      backpropagate_answers(0, edges);
      AddToQueries(input.begins, dim, s.edge_gradients.data(), s.query_gradients.data());
    }

    // Through the queries to the rows that they are made of.
    float* const anchor_gradients = drops ? s.dropped.anchor_gradients(queries * dim) : side.anchor_gradients.data();
    ForEachRun(side, queries, [&](Side made, std::size_t first, std::size_t count) {
      if (!shared) backpropagate_answers(first, count);
      BackpropagateQueries(model_, made, count, anchors + first * dim, relations + first * width,
                           s.query_gradients.data() + first * dim, side.add && !drops, anchor_gradients + first * dim,
                           side.relation_gradients.data() + first * width);
    });
    if (drops) s.dropped.Backpropagate(side.add, side.anchor_gradients, side.relation_gradients);
  };
  compute_side(TailSide(input, gradients));
  if (input.corrupts_heads) compute_side(HeadSide(input, gradients));
  if (s.relations.any()) result.loss += s.relations.Add(input, gradients, packed ? &s.bf16 : nullptr);
  result.penalty = AddPenalties(regularizer_, model_, input, gradients);
  return result;
}

}  // namespace octavo
