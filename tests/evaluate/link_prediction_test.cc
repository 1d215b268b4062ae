#include "evaluate/link_prediction.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/non_edges.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(ScoreTriples, AsTheDefinitionOfEachModel) {
  for (const ModelSpec& model : AllModels()) {
    for (const bool reciprocal : {false, true}) {
      if (reciprocal && model.kind == ModelKind::kDot) continue;
      EmbeddedFixture fixture({.model = model, .reciprocal = reciprocal});
      const std::vector<Edge>& edges = fixture.graph().train;
      std::vector<float> scores(edges.size());
      ASSERT_OK(ScoreTriples(fixture.Embedded(), edges, scores));
      for (std::size_t i = 0; i < edges.size(); ++i) {
        EXPECT_NEAR(scores[i], fixture.naive.SideScore(edges[i], Side::kTail), 1e-5);
      }
    }
  }
}

// All pairs of an edge and a non-edge, scores in double precision.
double NaiveAuc(const EmbeddedFixture& fixture, std::span<const Edge> edges,
                std::span<const std::optional<Edge>> others) {
  double wins = 0;
  double pairs = 0;
  for (const Edge& edge : edges) {
    for (const std::optional<Edge>& other : others) {
      if (!other) continue;
      const double margin = fixture.naive.SideScore(edge, Side::kTail) - fixture.naive.SideScore(*other, Side::kTail);
      wins += margin > 1e-9 ? 1 : margin < -1e-9 ? 0 : 0.5;
      ++pairs;
    }
  }
  return wins / pairs;
}

TEST(PredictHeldOutEdges, AsAllPairsOfAnEdgeAndANonEdge) {
  for (const ModelSpec& model : AllModels()) {
    const bool with_relations = model.kind != ModelKind::kDot;
    EmbeddedFixture fixture(
        {.model = model, .nodes = 25, .relations = with_relations ? 3U : 1U, .edges = {120, 30, 40}});
    const bool symmetric = model.kind == ModelKind::kDot || model.kind == ModelKind::kDistMult;
    const std::vector<Edge> edges = *fixture.opened().Edges(Split::kTest).ReadAll();
    const auto others = DrawNonEdges(fixture.opened(), edges, 0,
                                     {5, {.either_way = symmetric, .any_relation = model.RelationWidth() == 0}});
    ASSERT_OK(others);
    ASSERT_OK_AND_ASSIGN(const LinkPredictionReport report, PredictHeldOutEdges(fixture.Embedded(), {.seed = 5}));
    EXPECT_EQ(report.edges, edges.size());
    EXPECT_EQ(report.non_edges, edges.size());
    EXPECT_NEAR(report.auc, NaiveAuc(fixture, edges, *others), 1e-12);
    EXPECT_GT(report.average_precision, 0);
  }
}

std::vector<std::optional<Edge>> Given(const std::vector<Edge>& edges) { return {edges.begin(), edges.end()}; }

// A benchmark's own negatives, one of which is an edge.
TEST(PredictHeldOutEdges, GivenNegatives) {
  EmbeddedFixture fixture({.nodes = 25, .relations = 3, .edges = {120, 30, 40}});
  const std::vector<Edge> edges = *fixture.opened().Edges(Split::kTest).ReadAll();
  LinkPredictionOptions options;
  const auto drawn = DrawNonEdges(fixture.opened(), std::span(edges).first(15), 0, {7, {}});
  ASSERT_OK(drawn);
  for (const std::optional<Edge>& edge : *drawn) options.negatives.push_back(*edge);
  options.negatives.push_back(fixture.graph().train[0]);
  for (const std::uint64_t memory : {std::uint64_t{1}, std::uint64_t{1} << 30}) {
    options.memory_bytes = memory;
    ASSERT_OK_AND_ASSIGN(const LinkPredictionReport report, PredictHeldOutEdges(fixture.Embedded(), options));
    EXPECT_EQ(report.edges, edges.size());
    EXPECT_EQ(report.non_edges, 16U);
    EXPECT_EQ(report.known_negatives, 1U);
    EXPECT_NEAR(report.auc, NaiveAuc(fixture, edges, Given(options.negatives)), 1e-12);
  }
}

// The regions of Countries: each edge against the same edge with the other regions.
TEST(PredictHeldOutEdges, GivenCandidates) {
  EmbeddedFixture fixture({.nodes = 25, .relations = 3, .edges = {120, 30, 40}});
  const SmallGraph& graph = fixture.graph();
  LinkPredictionOptions options{.candidate_nodes = {1, 4, 9, 16, 20}};
  const auto is_candidate = [&](NodeId node) {
    return std::ranges::find(options.candidate_nodes, Value(node)) != options.candidate_nodes.end();
  };
  const auto is_edge = [&](const Edge& triple) {
    for (const std::vector<Edge>* split : {&graph.train, &graph.valid, &graph.test}) {
      for (const Edge& edge : *split) {
        if (edge.head == triple.head && edge.tail == triple.tail && edge.relation == triple.relation) return true;
      }
    }
    return false;
  };
  std::vector<Edge> positives;  // with an end that is a candidate
  std::vector<Edge> negatives;
  for (const Edge& edge : graph.test) {
    if (is_candidate(edge.head) || is_candidate(edge.tail)) positives.push_back(edge);
    for (const std::uint64_t node : options.candidate_nodes) {
      Edge tail = edge;
      tail.tail = NodeId{node};
      if (is_candidate(edge.tail) && !is_edge(tail)) negatives.push_back(tail);
      Edge head = edge;
      head.head = NodeId{node};
      if (is_candidate(edge.head) && !is_edge(head)) negatives.push_back(head);
    }
  }
  ASSERT_FALSE(negatives.empty());
  ASSERT_LT(positives.size(), graph.test.size());
  for (const std::uint64_t memory : {std::uint64_t{1}, std::uint64_t{1} << 30}) {
    options.memory_bytes = memory;
    ASSERT_OK_AND_ASSIGN(const LinkPredictionReport report, PredictHeldOutEdges(fixture.Embedded(), options));
    EXPECT_EQ(report.non_edges, negatives.size());
    EXPECT_EQ(report.edges, positives.size());
    EXPECT_EQ(report.unlisted_edges, graph.test.size() - positives.size());
    EXPECT_NEAR(report.auc, NaiveAuc(fixture, positives, Given(negatives)), 1e-12);
  }
}

TEST(PredictHeldOutEdges, CandidatesThatAreNoAnswersAreAUsageError) {
  EmbeddedFixture fixture({.nodes = 60, .edges = {100, 0, 1}});
  const Edge& edge = fixture.graph().test[0];
  std::uint64_t other = 0;
  while (NodeId{other} == edge.head || NodeId{other} == edge.tail) ++other;
  EXPECT_ERROR(PredictHeldOutEdges(fixture.Embedded(), {.candidate_nodes = {other}}), kUsage,
               "no test edge has a negative among the 1 candidates");
}

TEST(PredictHeldOutEdges, OneWhereTheScoresAreTheGraph) {
  // Nodes of two groups with edges inside them only: their inner products are 1 and 0.
  EmbeddedFixture fixture({.model = {ModelKind::kDot, Norm::kL1, 2}, .nodes = 12, .relations = 1, .edges = {0, 0, 0}});
  for (std::uint64_t i = 0; i < 12; ++i) {
    fixture.naive.embeddings[2 * i] = i % 2 == 0 ? 1.0F : 0.0F;
    fixture.naive.embeddings[2 * i + 1] = i % 2 == 0 ? 0.0F : 1.0F;
    for (std::uint64_t j = i + 2; j < 12; j += 2) {
      (j == i + 2 ? fixture.graph().test : fixture.graph().train)
          .push_back({NodeId{i}, NodeId{j}, RelationId{0}, 1.0F});
    }
  }
  fixture.Write();
  ASSERT_OK_AND_ASSIGN(const LinkPredictionReport report, PredictHeldOutEdges(fixture.Embedded(), {}));
  EXPECT_EQ(report.auc, 1.0);
  EXPECT_EQ(report.average_precision, 1.0);
}

// An edge with another relation, which a model without relations scores the same, was drawn as a non-edge.
TEST(PredictHeldOutEdges, WithoutRelationParametersAnEdgeOfAnyRelationIsOne) {
  for (const ModelKind kind : {ModelKind::kDot, ModelKind::kSourceContext}) {
    EmbeddedFixture fixture({.model = {kind, Norm::kL1, 4}, .nodes = 12, .relations = 5, .edges = {0, 0, 0}});
    for (std::uint64_t i = 0; i < 12; ++i) {
      for (std::uint64_t k = 0; k < 4; ++k) fixture.naive.embeddings[4 * i + k] = i % 2 == k % 2 ? 1.0F : 0.0F;
      for (std::uint64_t j = (i + 2) % 2; j < 12; j += 2) {
        const RelationId relation{static_cast<std::uint32_t>(j % 5)};
        (j % 3 == 0 ? fixture.graph().test : fixture.graph().train).push_back({NodeId{i}, NodeId{j}, relation, 1.0F});
      }
    }
    fixture.Write();
    ASSERT_OK_AND_ASSIGN(const LinkPredictionReport report, PredictHeldOutEdges(fixture.Embedded(), {}));
    EXPECT_EQ(report.non_edges, report.edges);
    EXPECT_EQ(report.auc, 1.0) << ModelName(kind);
  }
}

TEST(PredictHeldOutEdges, TheSameForAnyThreadsAndMemory) {
  EmbeddedFixture fixture({.nodes = 3000, .edges = {20000, 10, 10}});
  for (const std::uint64_t sample : {0U, 5000U}) {
    LinkPredictionOptions options{.split = Split::kTrain, .sample = sample, .seed = 2};
    ASSERT_OK_AND_ASSIGN(const LinkPredictionReport expected,
                         WithThreads(1, [&] { return PredictHeldOutEdges(fixture.Embedded(), options); }));
    EXPECT_EQ(expected.edges, sample == 0 ? fixture.graph().train.size() : sample);
    options.memory_bytes = 1;  // the minimum
    double last = 0;
    options.progress = [&](double share) { last = share; };
    ASSERT_OK_AND_ASSIGN(const LinkPredictionReport report,
                         WithThreads(3, [&] { return PredictHeldOutEdges(fixture.Embedded(), options); }));
    EXPECT_EQ(last, 1.0);
    EXPECT_EQ(report.auc, expected.auc);
    EXPECT_EQ(report.average_precision, expected.average_precision);
  }
}

TEST(PredictHeldOutEdges, ErrorsNameWhatIsThere) {
  EmbeddedFixture fixture({.edges = {30, 0, 10}});
  EXPECT_ERROR(PredictHeldOutEdges(fixture.Embedded(), {.split = Split::kValid}), kUsage,
               "the graph has no valid edges; evaluate another split");
  std::fill(fixture.naive.embeddings.begin(), fixture.naive.embeddings.end(), std::numeric_limits<float>::max());
  fixture.Write();
  EXPECT_ERROR(PredictHeldOutEdges(fixture.Embedded(), {}), kRuntime, "expected a finite number");
  EmbeddedFixture lonely({.nodes = 1, .relations = 1, .edges = {0, 0, 1}});
  EXPECT_ERROR(PredictHeldOutEdges(lonely.Embedded(), {}), kInput, "found only edges among");
}

}  // namespace
}  // namespace octavo
