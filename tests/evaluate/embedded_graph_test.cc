#include "evaluate/embedded_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/status.h"
#include "model/scorer.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;

TEST(CheckEmbeddedGraph, RefusesShapesThatDoNotFit) {
  EmbeddedFixture fixture({});
  EXPECT_TRUE(CheckEmbeddedGraph(fixture.Embedded()).ok());
  EmbeddedGraph embedded = fixture.Embedded();
  embedded.model.dim = 8;
  EXPECT_EQ(KindOf(CheckEmbeddedGraph(embedded)), ErrorKind::kCorrupt);
  EmbeddedGraph reciprocal = fixture.Embedded();
  reciprocal.reciprocal = true;  // needs twice as many relation rows
  EXPECT_EQ(KindOf(CheckEmbeddedGraph(reciprocal)), ErrorKind::kCorrupt);
}

TEST(CheckEmbeddedGraph, NamesTheReciprocalOfARelation) {
  EmbeddedFixture fixture({.reciprocal = true});
  fixture.naive.relations[6 * 4 + 3] = -std::numeric_limits<float>::infinity();  // row 4 of 6: r1001's reciprocal
  const absl::Status status = CheckEmbeddedGraph(fixture.Embedded());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(MessageOf(status)),
              HasSubstr("row 4 (relation \"r1001\", reciprocal) holds -inf in column 3"));
}

TEST(CheckFinite, FindsTheFirstOfManyRows) {
  EmbeddedFixture fixture({.nodes = 1500});
  std::vector<float> rows(900 * 6, 1.0F);
  EXPECT_TRUE(CheckFinite(fixture.Embedded(), 100, rows).ok());
  rows[700 * 6 + 5] = std::nanf("");
  rows[800 * 6] = std::numeric_limits<float>::infinity();
  const absl::Status status = CheckFinite(fixture.Embedded(), 100, rows);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("row 800 "));
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("nan in column 5"));
  EXPECT_TRUE(CheckFinite(fixture.Embedded(), 0, std::span(rows).first(700 * 6)).ok());
  rows[700 * 6 + 5] = std::numeric_limits<float>::denorm_min();
  rows[800 * 6] = std::numeric_limits<float>::max();
  EXPECT_TRUE(CheckFinite(fixture.Embedded(), 100, rows).ok());
}

TEST(MakeLinkQuery, ScoresAsTheDefinitionOnBothSides) {
  for (const ModelSpec& model : AllModels()) {
    for (const bool reciprocal : {false, true}) {
      if (reciprocal && (model.kind == ModelKind::kDot || model.kind == ModelKind::kSourceContext)) continue;
      EmbeddedFixture fixture({.model = model, .reciprocal = reciprocal});
      const EmbeddedGraph embedded = fixture.Embedded();
      const auto row = [&](std::uint64_t node) {
        return std::span<const float>(fixture.naive.embeddings).subspan(node * model.dim, model.dim);
      };
      const Edge edge{NodeId{3}, NodeId{8}, RelationId{1}, 1.0F};
      std::vector<float> query(model.dim);
      ScoreScratch scratch;
      float score = 0;
      for (const Side side : {Side::kTail, Side::kHead}) {
        MakeLinkQuery(embedded, side, edge.relation, row(side == Side::kTail ? 3 : 8), query);
        ScoreBlock(model, query, 1, row(side == Side::kTail ? 8 : 3), 1, scratch, std::span(&score, 1));
        EXPECT_NEAR(score, fixture.naive.SideScore(edge, side), 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace octavo
