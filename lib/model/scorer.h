// Scores without gradients: the one implementation of each model that training, evaluation and queries share.
//
// A score has two parts: a query, made from the anchor (the given node) and the relation, and a comparison of the query
// with a candidate node (inner product, or negated distance). So scoring a set of queries against a set of candidates
// is one matrix product (Euclidean distances by |q|^2 + |c|^2 - 2 q.c, L1 distances by a blocked kernel).
#pragma once

#include <cstddef>
#include <span>

#include "model/comparison.h"
#include "model/model_spec.h"

namespace octavo {

// Writes the query of (anchor, relation): for Side::kTail the anchor is the head, for Side::kHead the tail.
// anchor: [dim], relation: [RelationWidth()], query: [dim].
void MakeQuery(const ModelSpec& spec, Side side, std::span<const float> anchor, std::span<const float> relation,
               std::span<float> query);

// Writes scores[i * candidates + j] = score of query i against candidate j. queries: [n, dim], candidate_rows:
// [candidates, dim], scores: [n, candidates]. The bits of a pair's score do not depend on the shapes or on the pair's
// place, so equal pairs have equal scores.
void ScoreBlock(const ModelSpec& spec, std::span<const float> queries, std::size_t n,
                std::span<const float> candidate_rows, std::size_t candidates, ScoreScratch& scratch,
                std::span<float> scores);

}  // namespace octavo
