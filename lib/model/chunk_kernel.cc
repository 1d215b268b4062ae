#include "model/chunk_kernel.h"

#include <algorithm>
#include <vector>

#include "model/comparison.h"
#include "model/query.h"

namespace octavo {
namespace {

// Grows, never shrinks.
void Grow(std::vector<float>& memory, std::size_t size) {
  if (memory.size() < size) memory.resize(size);
}

// The known rows of a side as its queries are made of them, and the way back: rows and relations with some floats
// dropped, or as they are.
class QueryRows {
 public:
  // Q queries; known: [Q, dim], relations: [Q, width]
  void Drop(const DropoutSpec& spec, RandomStream& stream, std::span<const float> known,
            std::span<const float> relations) {
    known_.Drop(spec.nodes, stream, known);
    relations_.Drop(spec.relations, stream, relations);
  }
  const float* known() const { return known_.rows; }
  const float* relations() const { return relations_.rows; }

  // Turns gradients of the dropped rows into those of the rows. Known gradients are in known_gradients(n), and are
  // added to `known` where `add`, else they overwrite it.
  float* known_gradients(std::size_t size) {
    Grow(gradients_, size);
    return gradients_.data();
  }
  void Backpropagate(bool add, std::span<float> known, std::span<float> relations) const {
    for (std::size_t i = 0; i < known.size(); ++i) {
      known[i] = (add ? known[i] : 0.0F) + known_.Factor(i) * gradients_[i];
    }
    for (std::size_t i = 0; i < relations.size(); ++i) relations[i] *= relations_.Factor(i);
  }

 private:
  struct Masked {
    const float* rows = nullptr;
    std::vector<float> mask;
    std::vector<float> dropped;
    bool masked = false;

    void Drop(float rate, RandomStream& stream, std::span<const float> from) {
      rows = from.data();
      masked = rate > 0 && !from.empty();
      if (!masked) return;
      Grow(mask, from.size());
      Grow(dropped, from.size());
      DrawDropoutMask(stream, rate, std::span(mask).first(from.size()));
      for (std::size_t i = 0; i < from.size(); ++i) dropped[i] = from[i] * mask[i];
      rows = dropped.data();
    }
    float Factor(std::size_t i) const { return masked ? mask[i] : 1.0F; }
  };

  Masked known_;
  Masked relations_;
  std::vector<float> gradients_;
};

}  // namespace

struct ChunkKernel::Scratch {
  std::vector<float> queries;             // [Q, D]: one an edge, or a group
  std::vector<float> query_gradients;     // [Q, D]
  std::vector<float> scores;              // [Q, N], then the gradients of the scores
  std::vector<float> distances;           // [Q, N], a copy of the scores where the way back reads them
  std::vector<float> positives;           // [E]
  std::vector<float> positive_gradients;  // [E]
  std::vector<float> edge_queries;        // [E, D], of groups: the query of each edge
  std::vector<float> edge_gradients;      // [E, D]
  std::vector<float> edge_heads;          // [E, D], of groups: the head of each edge
  std::vector<float> edge_relations;      // [E, R], of groups
  std::vector<float> head_gradients;      // [E, D], of relation prediction
  std::vector<float> target_gradients;    // [E, R], likewise
  std::vector<float> weights;             // [E], likewise
  QueryRows rows;                         // of dropout
  ScoreScratch block;

  // For `count` queries against `candidates`.
  void ReserveBlock(std::size_t count, std::size_t candidates, std::size_t dim, bool keep_scores) {
    Grow(queries, count * dim);
    Grow(query_gradients, count * dim);
    Grow(scores, count * candidates);
    if (keep_scores) Grow(distances, count * candidates);
  }
};

namespace {

// One corrupted side: which rows are known, which are to be found, and where the gradients go.
struct SideView {
  Side query_side;  // how queries are made; kTail for a reciprocal head side
  std::span<const float> known;
  std::span<const float> relations;
  const float* targets;
  const float* negatives;
  std::span<const MaskedPair> masks;
  std::span<float> known_gradients;
  std::span<float> relation_gradients;
  float* target_gradients;
  float* negative_gradients;
  NegativeFactors factors;
  bool add;  // to the gradients of known and target rows, which the other side has written
};

SideView TailSide(const ChunkInput& in, const ChunkGradients& out) {
  return {.query_side = Side::kTail,
          .known = in.heads,
          .relations = in.relations,
          .targets = in.tails.data(),
          .negatives = in.tail_negatives.data(),
          .masks = in.tail_masks,
          .known_gradients = out.heads,
          .relation_gradients = out.relations,
          .target_gradients = out.tails.data(),
          .negative_gradients = out.tail_negatives.data(),
          .factors = out.tail_factors,
          .add = false};
}

SideView HeadSide(const ChunkInput& in, const ChunkGradients& out) {
  return {.query_side = in.reciprocal ? Side::kTail : Side::kHead,
          .known = in.tails,
          .relations = in.head_relations,
          .targets = in.heads.data(),
          .negatives = in.head_negatives.data(),
          .masks = in.head_masks,
          .known_gradients = out.tails,
          .relation_gradients = out.head_relations,
          .target_gradients = out.heads.data(),
          .negative_gradients = out.head_negatives.data(),
          .factors = out.head_factors,
          .add = true};
}

// BackpropagateBlock of inner products with the gradients of the negatives left as factors.
void BackpropagateFactors(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* negatives,
                          const float* g, float* query_gradients, const NegativeFactors& factors) {
  Gemm(n, dim, m, g, m, negatives, dim, query_gradients, dim, false);
  Transpose(n, m, g, m, factors.slopes.data(), factors.stride);
  const std::size_t stride = FactorStride(dim);
  for (std::size_t i = 0; i < n; ++i) {
    float* const row = factors.queries.data() + i * stride;
    std::fill(std::copy_n(queries + i * dim, dim, row), row + stride, 0.0F);
  }
}

// `scale` of a row is what each of its edges counts, times how many of them there are.
double AddRows(const RegularizerSpec& spec, bool complex_layout, float scale, std::span<const std::uint32_t> begins,
               std::size_t width, std::span<const float> rows, std::span<float> gradients) {
  double penalty = 0;
  for (std::size_t i = 0, row = 0; i + width <= rows.size() && width > 0; i += width, ++row) {
    const float edges = begins.empty() ? 1.0F : static_cast<float>(begins[row + 1] - begins[row]);
    penalty += AddRegularizer(spec, complex_layout, scale * edges, rows.subspan(i, width), gradients.subspan(i, width));
  }
  return penalty;
}

// Each side of an edge has its penalty, of the rows that it is scored with.
double AddDuraPenalties(const RegularizerSpec& spec, const ModelSpec& model, const ChunkInput& in,
                        const ChunkGradients& out) {
  const std::size_t dim = model.dim;
  const auto add = [&](std::size_t query, std::size_t edge, std::span<const float> relations, std::span<float> slopes) {
    return AddDura(
        spec, model.kind == ModelKind::kComplEx,
        {in.heads.subspan(query * dim, dim), relations.subspan(query * dim, dim), in.tails.subspan(edge * dim, dim)},
        {out.heads.subspan(query * dim, dim), slopes.subspan(query * dim, dim), out.tails.subspan(edge * dim, dim)});
  };
  const bool grouped = !in.begins.empty();
  double penalty = 0;
  std::size_t group = 0;
  for (std::size_t i = 0; i < in.edges; ++i) {
    while (grouped && in.begins[group + 1] <= i) ++group;
    penalty += add(grouped ? group : i, i, in.relations, out.relations);
    if (!grouped) penalty += add(i, i, in.head_relations, out.head_relations);
  }
  return penalty;
}

// Each side penalises its three rows of an edge, so nodes count twice where there are two.
double AddPenalties(const RegularizerSpec& spec, const ModelSpec& model, const ChunkInput& in,
                    const ChunkGradients& out) {
  if (spec.kind == RegularizerKind::kNone) return 0;
  if (spec.kind == RegularizerKind::kDura) return AddDuraPenalties(spec, model, in, out);
  const bool complex_nodes = model.kind == ModelKind::kComplEx || model.kind == ModelKind::kRotatE;
  const float sides = in.begins.empty() ? 2.0F : 1.0F;
  double penalty = AddRows(spec, complex_nodes, sides, in.begins, model.dim, in.heads, out.heads);
  penalty += AddRows(spec, complex_nodes, sides, {}, model.dim, in.tails, out.tails);
  if (model.kind == ModelKind::kRotatE) return penalty;  // phases have no size
  const bool complex_relations = model.kind == ModelKind::kComplEx;
  const std::size_t width = model.RelationWidth();
  penalty += AddRows(spec, complex_relations, 1.0F, in.begins, width, in.relations, out.relations);
  penalty += AddRows(spec, complex_relations, 1.0F, {}, width, in.head_relations, out.head_relations);
  return penalty;
}

// Copies the row of each group to its edges.
void SpreadRows(std::span<const std::uint32_t> begins, std::size_t width, const float* rows, float* edge_rows) {
  for (std::size_t group = 0; group + 1 < begins.size(); ++group) {
    for (std::size_t i = begins[group]; i < begins[group + 1]; ++i) {
      std::copy_n(rows + group * width, width, edge_rows + i * width);
    }
  }
}

// Adds the row of each edge to that of its group, in the order of the edges; without groups, to its own.
void AddToGroups(std::span<const std::uint32_t> begins, std::size_t edges, std::size_t width, const float* edge_rows,
                 float* rows) {
  std::size_t group = 0;
  for (std::size_t i = 0; i < edges; ++i) {
    while (!begins.empty() && begins[group + 1] <= i) ++group;
    float* const row = rows + (begins.empty() ? i : group) * width;
    for (std::size_t l = 0; l < width; ++l) row[l] += edge_rows[i * width + l];
  }
}

}  // namespace

bool HasInnerProducts(const ModelSpec& model) { return ComparisonOf(model) == Comparison::kInner; }

ChunkKernel::ChunkKernel(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer,
                         const DropoutSpec& dropout, float relation_prediction)
    : model_(model),
      loss_(loss),
      regularizer_(regularizer),
      dropout_(dropout),
      relation_prediction_(relation_prediction),
      scratch_(std::make_unique<Scratch>()) {}

ChunkKernel::~ChunkKernel() = default;
ChunkKernel::ChunkKernel(ChunkKernel&&) noexcept = default;

// The models that it is there for are in the head as they are in the relation: what asks for a relation, given head and
// tail, is the query of the head side with the head's row in the relation's place.
double ChunkKernel::PredictRelations(const ChunkInput& input, const ChunkGradients& gradients) {
  const bool grouped = !input.begins.empty();
  const std::size_t edges = input.edges;
  const std::size_t dim = model_.dim;
  const std::size_t relations = input.all_relations.size() / dim;
  const Comparison comparison = ComparisonOf(model_);
  const bool keep_scores = comparison == Comparison::kEuclidean;
  Scratch& s = *scratch_;
  s.ReserveBlock(edges, relations, dim, keep_scores);
  Grow(s.head_gradients, edges * dim);
  Grow(s.target_gradients, edges * dim);
  Grow(s.weights, edges);
  const float* heads = input.heads.data();
  const float* targets = input.relations.data();
  if (grouped) {
    Grow(s.edge_heads, edges * dim);
    Grow(s.edge_relations, edges * dim);
    SpreadRows(input.begins, dim, heads, s.edge_heads.data());
    SpreadRows(input.begins, dim, targets, s.edge_relations.data());
    heads = s.edge_heads.data();
    targets = s.edge_relations.data();
  }
  for (std::size_t i = 0; i < edges; ++i) s.weights[i] = relation_prediction_ * input.weights[i];

  MakeQueries(model_, Side::kHead, edges, input.tails.data(), heads, s.queries.data());
  CompareRows(comparison, dim, edges, s.queries.data(), targets, s.positives.data());
  CompareBlock(comparison, dim, edges, s.queries.data(), relations, input.all_relations.data(), s.block,
               s.scores.data());
  if (keep_scores) std::copy_n(s.scores.data(), edges * relations, s.distances.data());
  for (std::size_t i = 0; i < edges; ++i) s.scores[i * relations + input.edge_relations[i]] = kMaskedScore;
  const double loss = LossAndGradient({.kind = LossKind::kSoftmax}, std::span(s.positives).first(edges),
                                      std::span(s.weights).first(edges), std::span(s.scores).first(edges * relations),
                                      relations, std::span(s.positive_gradients).first(edges));
  BackpropagateBlock(comparison, dim, edges, s.queries.data(), relations, input.all_relations.data(),
                     s.distances.data(), s.block, s.scores.data(), s.query_gradients.data(),
                     gradients.all_relations.data());
  BackpropagateRows(comparison, dim, edges, s.queries.data(), targets, s.positives.data(), s.positive_gradients.data(),
                    s.query_gradients.data(), false, s.target_gradients.data());
  BackpropagateQueries(model_, Side::kHead, edges, input.tails.data(), heads, s.query_gradients.data(), true,
                       gradients.tails.data(), s.head_gradients.data());
  AddToGroups(input.begins, edges, dim, s.target_gradients.data(), gradients.relations.data());
  AddToGroups(input.begins, edges, dim, s.head_gradients.data(), gradients.heads.data());
  return loss;
}

ChunkLoss ChunkKernel::Compute(const ChunkInput& input, const ChunkGradients& gradients) {
  const bool grouped = !input.begins.empty();
  const std::size_t edges = input.edges;
  const std::size_t queries = grouped ? input.begins.size() - 1 : edges;
  const std::size_t negatives = input.negatives;
  const std::size_t dim = model_.dim;
  const Comparison comparison = ComparisonOf(model_);
  const bool keep_scores = comparison == Comparison::kEuclidean;
  Scratch& s = *scratch_;
  s.ReserveBlock(queries, negatives, dim, keep_scores);
  Grow(s.positives, edges);
  Grow(s.positive_gradients, edges);
  if (grouped) Grow(s.edge_queries, edges * dim);
  if (grouped) Grow(s.edge_gradients, edges * dim);
  // The query and its gradient of each edge: without groups they are the edge's own.
  const float* const edge_queries = grouped ? s.edge_queries.data() : s.queries.data();
  float* const edge_gradients = grouped ? s.edge_gradients.data() : s.query_gradients.data();
  RandomStream dropout = input.dropout;

  ChunkLoss result;
  const auto compute_side = [&](const SideView& side) {
    s.rows.Drop(dropout_, dropout, side.known, side.relations);
    MakeQueries(model_, side.query_side, queries, s.rows.known(), s.rows.relations(), s.queries.data());
    if (grouped) SpreadRows(input.begins, dim, s.queries.data(), s.edge_queries.data());
    CompareRows(comparison, dim, edges, edge_queries, side.targets, s.positives.data());
    CompareBlock(comparison, dim, queries, s.queries.data(), negatives, side.negatives, s.block, s.scores.data());
    if (keep_scores) std::copy_n(s.scores.data(), queries * negatives, s.distances.data());
    for (const MaskedPair& pair : side.masks) s.scores[pair.edge * negatives + pair.negative] = kMaskedScore;

    result.loss += LossAndGradient(loss_, std::span(s.positives).first(edges), input.weights,
                                   std::span(s.scores).first(queries * negatives), negatives,
                                   std::span(s.positive_gradients).first(edges), input.begins, input.answers);

    if (side.factors.wanted()) {
      BackpropagateFactors(dim, queries, s.queries.data(), negatives, side.negatives, s.scores.data(),
                           s.query_gradients.data(), side.factors);
    } else {
      BackpropagateBlock(comparison, dim, queries, s.queries.data(), negatives, side.negatives, s.distances.data(),
                         s.block, s.scores.data(), s.query_gradients.data(), side.negative_gradients);
    }
    if (grouped) std::fill_n(s.edge_gradients.data(), edges * dim, 0.0F);
    BackpropagateRows(comparison, dim, edges, edge_queries, side.targets, s.positives.data(),
                      s.positive_gradients.data(), edge_gradients, side.add, side.target_gradients);
    if (grouped) AddToGroups(input.begins, edges, dim, s.edge_gradients.data(), s.query_gradients.data());
    if (dropout_.any()) {
      BackpropagateQueries(model_, side.query_side, queries, s.rows.known(), s.rows.relations(),
                           s.query_gradients.data(), false, s.rows.known_gradients(queries * dim),
                           side.relation_gradients.data());
      s.rows.Backpropagate(side.add, side.known_gradients, side.relation_gradients);
    } else {
      BackpropagateQueries(model_, side.query_side, queries, side.known.data(), side.relations.data(),
                           s.query_gradients.data(), side.add, side.known_gradients.data(),
                           side.relation_gradients.data());
    }
  };
  compute_side(TailSide(input, gradients));
  if (!grouped) compute_side(HeadSide(input, gradients));
  if (relation_prediction_ > 0) result.loss += PredictRelations(input, gradients);
  result.penalty = AddPenalties(regularizer_, model_, input, gradients);
  return result;
}

}  // namespace octavo
