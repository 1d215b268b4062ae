#include "model/scorer.h"

namespace octavo {

void MakeQuery(const ModelSpec& spec, Side side, std::span<const float> anchor, std::span<const float> relation,
               std::span<float> query) {
  MakeQueries(spec, side, 1, anchor.data(), relation.data(), query.data());
}

void ScoreBlock(const ModelSpec& spec, std::span<const float> queries, std::size_t n,
                std::span<const float> candidate_rows, std::size_t candidates, ScoreScratch& scratch,
                std::span<float> scores) {
  CompareBlock(ComparisonOf(spec), spec.dim, n, queries.data(), candidates, candidate_rows.data(), scratch,
               scores.data());
}

}  // namespace octavo
