#include "model/chunk_kernel.h"

#include <algorithm>
#include <vector>

#include "model/comparison.h"
#include "model/query.h"

namespace octavo {

// Grows, never shrinks.
struct ChunkKernel::Scratch {
  std::vector<float> queries;             // [E, D]
  std::vector<float> query_gradients;     // [E, D]
  std::vector<float> scores;              // [E, N], then the gradients of the scores
  std::vector<float> distances;           // [E, N], a copy of the scores where the way back reads them
  std::vector<float> positives;           // [E]
  std::vector<float> positive_gradients;  // [E]
  ScoreScratch block;

  void Reserve(const ChunkInput& input, std::size_t dim, bool keep_scores) {
    Grow(queries, input.edges * dim);
    Grow(query_gradients, input.edges * dim);
    Grow(scores, input.edges * input.negatives);
    if (keep_scores) Grow(distances, input.edges * input.negatives);
    Grow(positives, input.edges);
    Grow(positive_gradients, input.edges);
  }

 private:
  static void Grow(std::vector<float>& memory, std::size_t size) {
    if (memory.size() < size) memory.resize(size);
  }
};

namespace {

// One corrupted side: which rows are known, which are to be found, and where the gradients go.
struct SideView {
  Side query_side;  // how queries are made; kTail for a reciprocal head side
  const float* known;
  const float* relations;
  const float* targets;
  const float* negatives;
  std::span<const MaskedPair> masks;
  float* known_gradients;
  float* relation_gradients;
  float* target_gradients;
  float* negative_gradients;
  bool add;  // to the gradients of known and target rows, which the other side has written
};

SideView TailSide(const ChunkInput& in, const ChunkGradients& out) {
  return {.query_side = Side::kTail,
          .known = in.heads.data(),
          .relations = in.relations.data(),
          .targets = in.tails.data(),
          .negatives = in.tail_negatives.data(),
          .masks = in.tail_masks,
          .known_gradients = out.heads.data(),
          .relation_gradients = out.relations.data(),
          .target_gradients = out.tails.data(),
          .negative_gradients = out.tail_negatives.data(),
          .add = false};
}

SideView HeadSide(const ChunkInput& in, const ChunkGradients& out) {
  return {.query_side = in.reciprocal ? Side::kTail : Side::kHead,
          .known = in.tails.data(),
          .relations = in.head_relations.data(),
          .targets = in.heads.data(),
          .negatives = in.head_negatives.data(),
          .masks = in.head_masks,
          .known_gradients = out.tails.data(),
          .relation_gradients = out.head_relations.data(),
          .target_gradients = out.heads.data(),
          .negative_gradients = out.head_negatives.data(),
          .add = true};
}

double AddRows(const RegularizerSpec& spec, bool complex_layout, float scale, std::size_t width,
               std::span<const float> rows, std::span<float> gradients) {
  double penalty = 0;
  for (std::size_t i = 0; i + width <= rows.size() && width > 0; i += width) {
    penalty += AddRegularizer(spec, complex_layout, scale, rows.subspan(i, width), gradients.subspan(i, width));
  }
  return penalty;
}

// Each side penalises its three rows of an edge, so nodes count twice.
double AddPenalties(const RegularizerSpec& spec, const ModelSpec& model, const ChunkInput& in,
                    const ChunkGradients& out) {
  if (spec.kind == RegularizerKind::kNone) return 0;
  const bool complex_nodes = model.kind == ModelKind::kComplEx || model.kind == ModelKind::kRotatE;
  double penalty = AddRows(spec, complex_nodes, 2.0F, model.dim, in.heads, out.heads);
  penalty += AddRows(spec, complex_nodes, 2.0F, model.dim, in.tails, out.tails);
  if (model.kind == ModelKind::kRotatE) return penalty;  // phases have no size
  const bool complex_relations = model.kind == ModelKind::kComplEx;
  penalty += AddRows(spec, complex_relations, 1.0F, model.RelationWidth(), in.relations, out.relations);
  penalty += AddRows(spec, complex_relations, 1.0F, model.RelationWidth(), in.head_relations, out.head_relations);
  return penalty;
}

}  // namespace

ChunkKernel::ChunkKernel(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer)
    : model_(model), loss_(loss), regularizer_(regularizer), scratch_(std::make_unique<Scratch>()) {}

ChunkKernel::~ChunkKernel() = default;
ChunkKernel::ChunkKernel(ChunkKernel&&) noexcept = default;

ChunkLoss ChunkKernel::Compute(const ChunkInput& input, const ChunkGradients& gradients) {
  const std::size_t edges = input.edges;
  const std::size_t negatives = input.negatives;
  const std::size_t dim = model_.dim;
  const Comparison comparison = ComparisonOf(model_);
  const bool keep_scores = comparison == Comparison::kEuclidean;
  Scratch& s = *scratch_;
  s.Reserve(input, dim, keep_scores);

  ChunkLoss result;
  for (const SideView& side : {TailSide(input, gradients), HeadSide(input, gradients)}) {
    MakeQueries(model_, side.query_side, edges, side.known, side.relations, s.queries.data());
    CompareRows(comparison, dim, edges, s.queries.data(), side.targets, s.positives.data());
    CompareBlock(comparison, dim, edges, s.queries.data(), negatives, side.negatives, s.block, s.scores.data());
    if (keep_scores) std::copy_n(s.scores.data(), edges * negatives, s.distances.data());
    for (const MaskedPair& pair : side.masks) s.scores[pair.edge * negatives + pair.negative] = kMaskedScore;

    result.loss += LossAndGradient(loss_, std::span(s.positives).first(edges), input.weights,
                                   std::span(s.scores).first(edges * negatives), negatives,
                                   std::span(s.positive_gradients).first(edges));

    BackpropagateBlock(comparison, dim, edges, s.queries.data(), negatives, side.negatives, s.distances.data(), s.block,
                       s.scores.data(), s.query_gradients.data(), side.negative_gradients);
    BackpropagateRows(comparison, dim, edges, s.queries.data(), side.targets, s.positives.data(),
                      s.positive_gradients.data(), s.query_gradients.data(), side.add, side.target_gradients);
    BackpropagateQueries(model_, side.query_side, edges, side.known, side.relations, s.query_gradients.data(), side.add,
                         side.known_gradients, side.relation_gradients);
  }
  result.penalty = AddPenalties(regularizer_, model_, input, gradients);
  return result;
}

}  // namespace octavo
