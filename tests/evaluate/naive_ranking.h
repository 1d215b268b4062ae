// Ranking by its definition: double loops over everything in memory, scores in double precision. The oracle of these
// tests; shares no code with lib/evaluate or lib/model.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "base/edge.h"
#include "model/model_spec.h"

namespace octavo {

struct NaiveModel {
  ModelSpec spec;
  bool reciprocal = false;
  std::uint64_t nodes = 0;
  std::uint32_t relation_count = 0;
  std::vector<float> embeddings;
  std::vector<float> relations;

  double E(std::uint64_t node, std::size_t i) const { return embeddings[node * spec.dim + i]; }

  // The score of (head, relation row, tail).
  double Score(std::uint64_t head, std::uint64_t relation, std::uint64_t tail) const {
    const std::size_t dim = spec.dim;
    const std::size_t half = dim / 2;
    const auto r = [&](std::size_t i) {
      const std::size_t width = spec.kind == ModelKind::kRotatE ? half : dim;
      return static_cast<double>(relations[relation * width + i]);
    };
    double sum = 0;
    if (spec.kind == ModelKind::kRescal) {
      const std::size_t block = spec.block == 0 ? dim : spec.block;
      for (std::size_t i = 0; i < dim * block; ++i) {
        const std::size_t row = i / block;
        sum += E(head, row) * static_cast<double>(relations[relation * dim * block + i]) *
               E(tail, row / block * block + i % block);
      }
      return sum;
    }
    for (std::size_t i = 0; i < (spec.kind == ModelKind::kComplEx || spec.kind == ModelKind::kRotatE ? half : dim);
         ++i) {
      const double a = E(head, i);
      const double c = E(tail, i);
      switch (spec.kind) {
        case ModelKind::kDot:
          sum += a * c;
          break;
        case ModelKind::kSourceContext:
          if (i < half) sum += a * E(tail, half + i);
          break;
        case ModelKind::kDistMult:
          sum += a * r(i) * c;
          break;
        case ModelKind::kTransE:
          sum += spec.norm == Norm::kL1 ? std::abs(a + r(i) - c) : (a + r(i) - c) * (a + r(i) - c);
          break;
        case ModelKind::kRescal:
          break;                     // above
        case ModelKind::kComplEx: {  // Re((a + ib)(r + is)(c - id))
          const double b = E(head, half + i);
          const double d = E(tail, half + i);
          sum += (a * r(i) - b * r(half + i)) * c + (a * r(half + i) + b * r(i)) * d;
          break;
        }
        case ModelKind::kRotatE: {
          const double b = E(head, half + i);
          const double d = E(tail, half + i);
          const double x = a * std::cos(r(i)) - b * std::sin(r(i)) - c;
          const double y = a * std::sin(r(i)) + b * std::cos(r(i)) - d;
          sum += spec.norm == Norm::kL1 ? std::sqrt(x * x + y * y) : x * x + y * y;
          break;
        }
      }
    }
    const bool distance = spec.kind == ModelKind::kTransE || spec.kind == ModelKind::kRotatE;
    return distance ? (spec.norm == Norm::kL2 ? -std::sqrt(sum) : -sum) : sum;
  }

  // The score of `edge` as a question about `side`.
  double SideScore(const Edge& edge, Side side) const {
    const std::uint64_t h = Value(edge.head);
    const std::uint64_t t = Value(edge.tail);
    if (side == Side::kHead && reciprocal) return Score(t, Value(edge.relation) + relation_count, h);
    return Score(h, Value(edge.relation), t);
  }
};

inline Edge Replaced(Edge edge, Side side, std::uint64_t node) {
  (side == Side::kTail ? edge.tail : edge.head) = NodeId{node};
  return edge;
}

using EdgeSet = std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>>;
inline EdgeSet SetOf(std::span<const std::vector<Edge>> splits) {
  EdgeSet set;
  for (const std::vector<Edge>& edges : splits) {
    for (const Edge& edge : edges) set.insert({Value(edge.head), Value(edge.relation), Value(edge.tail)});
  }
  return set;
}

// The rank of one answer among the nodes for which `candidate` is true, without the other edges in `filter`.
inline double NaiveRank(const NaiveModel& model, const Edge& edge, Side side, const EdgeSet& filter,
                        const std::function<bool(std::uint64_t)>& candidate) {
  const std::uint64_t answer = Value(side == Side::kTail ? edge.tail : edge.head);
  const double score = model.SideScore(edge, side);
  double best = 1;
  double worst = 1;
  for (std::uint64_t node = 0; node < model.nodes; ++node) {
    if (node == answer || !candidate(node)) continue;
    const Edge other = Replaced(edge, side, node);
    if (filter.contains({Value(other.head), Value(other.relation), Value(other.tail)})) continue;
    const double other_score = model.SideScore(other, side);
    if (other_score > score) ++best;
    if (other_score >= score) ++worst;
  }
  return (best + worst) / 2;
}

}  // namespace octavo
