#include "model/scorer.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/model/model_kinds.h"
#include "tests/support/naive_model.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

std::vector<double> Widen(std::span<const float> values) { return {values.begin(), values.end()}; }

TEST(ScorerTest, QueryAgainstCandidateIsTheScoreOfTheTriple) {
  const std::size_t n = 7, m = 19;
  for (const ModelKind kind : kModelKinds) {
    for (const Norm norm : {Norm::kL1, Norm::kL2}) {
      for (const std::size_t dim : {2UL, 10UL, 100UL, 128UL, 258UL}) {
        const ModelSpec spec{kind, norm, dim};
        const std::size_t width = spec.RelationWidth();
        const auto known = RandomRows(n * dim, 1), relations = RandomRows(n * width, 2), nodes = RandomRows(m * dim, 3);
        for (const Side side : {Side::kTail, Side::kHead}) {
          std::vector<float> queries(n * dim), scores(n * m);
          for (std::size_t i = 0; i < n; ++i) {
            MakeQuery(spec, side, std::span(known).subspan(i * dim, dim),
                      std::span(relations).subspan(i * width, width), std::span(queries).subspan(i * dim, dim));
          }
          ScoreScratch scratch;
          ScoreBlock(spec, queries, n, nodes, m, scratch, scores);
          for (std::size_t i = 0; i < n; ++i) {
            const auto k = Widen(std::span(known).subspan(i * dim, dim));
            const auto r = Widen(std::span(relations).subspan(i * width, width));
            for (std::size_t j = 0; j < m; ++j) {
              const auto node = Widen(std::span(nodes).subspan(j * dim, dim));
              const double naive = side == Side::kTail ? NaiveScore(spec, k, r, node) : NaiveScore(spec, node, r, k);
              // dim terms of size up to about 10, added in order: most rounding errors cancel.
              ASSERT_NEAR(scores[i * m + j], naive, 2e-6 * static_cast<double>(dim + 2))
                  << ModelName(kind) << " " << dim;
            }
          }
        }
      }
    }
  }
}

// Equal rows have equal scores, wherever they are among the candidates.
TEST(ScorerTest, TiesAreTies) {
  const std::size_t m = 83;
  for (const ModelKind kind : kModelKinds) {
    for (const Norm norm : {Norm::kL1, Norm::kL2}) {
      const ModelSpec spec{kind, norm, 70};
      const auto node = RandomRows(70, 1), query = RandomRows(70, 2);
      std::vector<float> nodes;
      for (std::size_t j = 0; j < m; ++j) nodes.insert(nodes.end(), node.begin(), node.end());
      std::vector<float> scores(m);
      ScoreScratch scratch;
      ScoreBlock(spec, query, 1, nodes, m, scratch, scores);
      EXPECT_EQ(scores, std::vector<float>(m, scores[0])) << ModelName(kind);
    }
  }
}

}  // namespace
}  // namespace octavo
