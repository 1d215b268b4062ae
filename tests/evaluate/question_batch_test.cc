#include "evaluate/question_batch.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "evaluate/score_bins.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

TEST(QuestionBatch, OneQuestionForTriplesThatAskTheSame) {
  EmbeddedFixture fixture({});
  const auto edge = [](std::uint64_t h, std::uint32_t r, std::uint64_t t) {
    return Edge{NodeId{h}, NodeId{t}, RelationId{r}, 1.0F};
  };
  const std::vector<Edge> triples = {edge(1, 0, 2), edge(1, 0, 3), edge(1, 1, 2), edge(4, 0, 2)};
  const auto batch = QuestionBatch::Make(fixture.Embedded(), triples);
  ASSERT_TRUE(batch.ok());
  // Tails: (1, 0), (1, 1), (4, 0). Heads: (0, 2), (0, 3), (1, 2).
  EXPECT_EQ(batch->size(), 6U);
}

TEST(QuestionBatch, ThresholdsAreTheScoresOfTheAnswers) {
  for (const ModelSpec& model : AllModels()) {
    EmbeddedFixture fixture({.model = model, .edges = {40, 10, 60}});
    const std::vector<Edge>& triples = fixture.graph().test;
    const auto batch = QuestionBatch::Make(fixture.Embedded(), triples);
    ASSERT_TRUE(batch.ok());
    for (std::size_t q = 0; q < batch->size(); ++q) {
      const LinkQuestion& question = batch->questions()[q];
      std::set<float> expected;
      for (const Edge& triple : triples) {
        const NodeId known = question.side == Side::kTail ? triple.head : triple.tail;
        if (known != question.known || triple.relation != question.relation) continue;
        expected.insert(static_cast<float>(fixture.naive.SideScore(triple, question.side)));
      }
      const auto thresholds = batch->Thresholds(q);
      ASSERT_EQ(thresholds.size(), expected.size());
      // Square roots may differ in the last bit.
      for (const float threshold : thresholds) {
        EXPECT_FLOAT_EQ(threshold, *expected.begin());
        expected.erase(expected.begin());
      }
    }
  }
}

TEST(QuestionBatch, RanksFromCountedScores) {
  EmbeddedFixture fixture({.model = {ModelKind::kDot, Norm::kL1, 1}, .nodes = 4, .relations = 1, .edges = {0, 0, 0}});
  fixture.naive.embeddings = {1, 2, 3, 4};
  fixture.Write();
  const Edge triple{NodeId{0}, NodeId{1}, RelationId{0}, 1.0F};
  auto batch = QuestionBatch::Make(fixture.Embedded(), std::span(&triple, 1));
  ASSERT_TRUE(batch.ok());
  const std::uint32_t tail = batch->questions().Find({NodeId{0}, RelationId{0}, Side::kTail});
  // (0, ?): the answer scores 2. Two candidates are above, one ties, one is below; one of those above is known.
  AddToBins(std::vector<float>{3, 4, 2, 2, 1}, batch->Thresholds(tail), batch->CandidateBins(tail));
  AddToBins(std::vector<float>{3, 2}, batch->Thresholds(tail), batch->KnownBins(tail));
  batch->SumBins();
  const QuestionBatch::Ranks ranks = batch->RanksOf(0, Side::kTail, true);
  EXPECT_EQ(ranks.raw, 3.5);
  EXPECT_EQ(ranks.filtered, 2.5);
}

}  // namespace
}  // namespace octavo
