#include "model/chunk_penalties.h"

#include <vector>

#include "model/comparison.h"

namespace octavo {
namespace {

// The weight of all edges of query q.
float WeightOf(const ChunkInput& in, std::size_t q) {
  float weight = 0;
  for (std::size_t i = in.begins[q] - in.begins[0]; i < in.begins[q + 1] - in.begins[0]; ++i) weight += in.weights[i];
  return weight;
}

// The penalties of consecutive rows; row i counts scale * weight(i) times.
template <typename Weight>
double AddRows(const RegularizerSpec& spec, bool complex_layout, float scale, std::size_t width,
               std::span<const float> rows, std::span<float> gradients, const Weight& weight) {
  double penalty = 0;
  for (std::size_t i = 0, row = 0; i + width <= rows.size() && width > 0; i += width, ++row) {
    penalty +=
        AddRegularizer(spec, complex_layout, scale * weight(row), rows.subspan(i, width), gradients.subspan(i, width));
  }
  return penalty;
}

// Dura is a function of the three rows of an edge together.
double AddDuraPenalties(const RegularizerSpec& spec, const ModelSpec& model, const ChunkInput& in,
                        const ChunkGradients& out) {
  const std::size_t dim = model.dim;
  const auto add = [&](std::size_t query, std::size_t edge, std::span<const float> relations, std::span<float> slopes) {
    return AddDura(
        {.kind = spec.kind, .weight = spec.weight * in.weights[edge]}, model.kind == ModelKind::kComplEx,
        {in.heads.subspan(query * dim, dim), relations.subspan(query * dim, dim), in.tails.subspan(edge * dim, dim)},
        {out.heads.subspan(query * dim, dim), slopes.subspan(query * dim, dim), out.tails.subspan(edge * dim, dim)});
  };
  double penalty = 0;
  for (std::size_t q = 0; q < in.queries(); ++q) {
    for (std::size_t i = in.begins[q] - in.begins[0]; i < in.begins[q + 1] - in.begins[0]; ++i) {
      penalty += add(q, i, in.relations, out.relations);
      if (in.corrupts_heads) penalty += add(q, i, in.head_relations, out.head_relations);
    }
  }
  return penalty;
}

// Dura of a relation that is a matrix R: |h|^2 / 2 + |t|^2 / 2 + 3/2 (|h' R|^2 + |R t|^2), as for the others, whose
// products are queries, too.
double AddMatrixDura(const RegularizerSpec& spec, const ModelSpec& model, const ChunkInput& in,
                     const ChunkGradients& out) {
  constexpr float kOwn = 0.5F;
  constexpr float kProduct = 1.5F;
  const std::size_t dim = model.dim;
  const std::size_t width = model.RelationWidth();
  std::vector<float> query(dim);
  std::vector<float> relation_gradient(width);
  // One end of edges of the weight `edges`: its row, and the query that it makes of the relation.
  const auto add = [&](Side side, float edges, std::span<const float> anchor, std::span<const float> relation,
                       std::span<float> anchor_gradient, std::span<float> sum) {
    MakeQueries(model, side, 1, anchor.data(), relation.data(), query.data());
    double penalty = 0;
    for (std::size_t l = 0; l < dim; ++l) {
      penalty += static_cast<double>(kOwn * anchor[l] * anchor[l] + kProduct * query[l] * query[l]);
      anchor_gradient[l] += spec.weight * edges * 2 * kOwn * anchor[l];
      query[l] *= spec.weight * edges * 2 * kProduct;
    }
    BackpropagateQueries(model, side, 1, anchor.data(), relation.data(), query.data(), true, anchor_gradient.data(),
                         relation_gradient.data());
    for (std::size_t l = 0; l < width; ++l) sum[l] += relation_gradient[l];
    return static_cast<double>(spec.weight * edges) * penalty;
  };
  double penalty = 0;
  const auto add_edges = [&](std::span<const float> relations, std::span<float> slopes) {
    for (std::size_t q = 0; q < in.queries(); ++q) {
      const auto relation = relations.subspan(q * width, width);
      const auto sum = slopes.subspan(q * width, width);
      const bool turned = !in.sides.empty() && in.sides[q] == Side::kHead;
      penalty += add(turned ? Side::kHead : Side::kTail, WeightOf(in, q), in.heads.subspan(q * dim, dim), relation,
                     out.heads.subspan(q * dim, dim), sum);
      for (std::size_t i = in.begins[q] - in.begins[0]; i < in.begins[q + 1] - in.begins[0]; ++i) {
        penalty += add(turned ? Side::kTail : Side::kHead, in.weights[i], in.tails.subspan(i * dim, dim), relation,
                       out.tails.subspan(i * dim, dim), sum);
      }
    }
  };
  add_edges(in.relations, out.relations);
  if (in.corrupts_heads) add_edges(in.head_relations, out.head_relations);
  return penalty;
}

}  // namespace

double AddPenalties(const RegularizerSpec& spec, const ModelSpec& model, const ChunkInput& in,
                    const ChunkGradients& out) {
  if (spec.kind == RegularizerKind::kNone) return 0;
  if (spec.kind == RegularizerKind::kDura && model.kind == ModelKind::kRescal) {
    return AddMatrixDura(spec, model, in, out);
  }
  if (spec.kind == RegularizerKind::kDura) return AddDuraPenalties(spec, model, in, out);
  const auto of_query = [&](std::size_t q) { return WeightOf(in, q); };
  const auto of_edge = [&](std::size_t i) { return in.weights[i]; };
  const bool complex_nodes = model.kind == ModelKind::kComplEx || model.kind == ModelKind::kRotatE;
  const float sides = in.corrupts_heads ? 2.0F : 1.0F;
  double penalty = AddRows(spec, complex_nodes, sides, model.dim, in.heads, out.heads, of_query);
  penalty += AddRows(spec, complex_nodes, sides, model.dim, in.tails, out.tails, of_edge);
  if (model.kind == ModelKind::kRotatE) return penalty;  // a phase has no magnitude
  const bool complex_relations = model.kind == ModelKind::kComplEx;
  const std::size_t width = model.RelationWidth();
  penalty += AddRows(spec, complex_relations, 1.0F, width, in.relations, out.relations, of_query);
  penalty += AddRows(spec, complex_relations, 1.0F, width, in.head_relations, out.head_relations, of_edge);
  return penalty;
}

}  // namespace octavo
