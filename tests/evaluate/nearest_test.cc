#include "evaluate/nearest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/status.h"
#include "oneapi/tbb/global_control.h"
#include "tests/evaluate/fixture.h"
#include "tests/evaluate/naive_types.h"

namespace octavo {
namespace {

double Dot(const NaiveModel& model, std::uint64_t a, std::uint64_t b) {
  double sum = 0;
  for (std::size_t i = 0; i < model.spec.dim; ++i) sum += model.E(a, i) * model.E(b, i);
  return sum;
}

double Cosine(const NaiveModel& model, std::uint64_t a, std::uint64_t b) {
  const double norms = std::sqrt(Dot(model, a, a)) * std::sqrt(Dot(model, b, b));
  return norms == 0 ? 0 : Dot(model, a, b) / norms;
}

TEST(NearestNodes, AgreeWithComparingEveryPair) {
  for (const ModelSpec& model : AllModels()) {
    EmbeddedFixture fixture({.model = model, .nodes = 300, .range = 4});
    std::fill_n(fixture.naive.embeddings.begin() + static_cast<std::ptrdiff_t>(17 * model.dim), model.dim, 0.0F);
    fixture.Write();
    for (const Similarity similarity : {Similarity::kCosine, Similarity::kDot}) {
      for (const std::uint64_t node : {0U, 17U, 299U}) {
        std::vector<double> expected;
        for (std::uint64_t other = 0; other < 300; ++other) {
          if (other == node) continue;
          expected.push_back(similarity == Similarity::kDot ? Dot(fixture.naive, node, other)
                                                            : Cosine(fixture.naive, node, other));
        }
        std::sort(expected.rbegin(), expected.rend());
        const auto found = NearestNodes(fixture.Embedded(), NodeId{node}, similarity, {.k = 25});
        ASSERT_TRUE(found.ok());
        ASSERT_EQ(found->size(), 25U);
        for (std::size_t i = 0; i < found->size(); ++i) {
          const ScoredNode& scored = (*found)[i];
          EXPECT_NE(Value(scored.node), node);
          EXPECT_NEAR(scored.score, expected[i], 1e-5);
          EXPECT_NEAR(scored.score,
                      similarity == Similarity::kDot ? Dot(fixture.naive, node, Value(scored.node))
                                                     : Cosine(fixture.naive, node, Value(scored.node)),
                      1e-5);
          if (i > 0) {
            EXPECT_TRUE(RanksBefore((*found)[i - 1], scored));
          }
        }
      }
    }
  }
}

// Parallel vectors had cosines of up to 1.0000002.
TEST(NearestNodes, NoCosineIsAboveOne) {
  EmbeddedFixture fixture({.nodes = 200, .range = 4});
  const std::size_t dim = fixture.naive.spec.dim;
  for (std::size_t node = 1; node < 200; ++node) {
    for (std::size_t i = 0; i < dim; ++i) {
      fixture.naive.embeddings[node * dim + i] = fixture.naive.embeddings[i] * static_cast<float>(node);
    }
  }
  fixture.Write();
  const auto found = NearestNodes(fixture.Embedded(), NodeId{0}, Similarity::kCosine, {.k = 199});
  ASSERT_TRUE(found.ok());
  for (const ScoredNode& scored : *found) {
    EXPECT_LE(scored.score, 1.0F);
    EXPECT_GT(scored.score, 0.9999F);
  }
}

TEST(NearestNodes, FewerNodesThanAsked) {
  EmbeddedFixture fixture({.nodes = 3});
  EXPECT_EQ(NearestNodes(fixture.Embedded(), NodeId{1}, Similarity::kCosine, {.k = 10})->size(), 2U);
  EmbeddedFixture lonely({.nodes = 1, .edges = {0, 0, 0}});
  EXPECT_TRUE(NearestNodes(lonely.Embedded(), NodeId{0}, Similarity::kCosine, {})->empty());
}

TEST(NearestNodes, StopsBetweenBlocks) {
  EmbeddedFixture fixture({.nodes = 100, .edges = {0, 0, 0}});
  int asked = 0;
  NodeSearchOptions options{.block_rows = 10};
  options.stop = [&] { return ++asked == 3; };
  EXPECT_TRUE(absl::IsCancelled(NearestNodes(fixture.Embedded(), NodeId{4}, Similarity::kDot, options).status()));
  EXPECT_EQ(asked, 3);
  asked = 0;
  EXPECT_TRUE(absl::IsCancelled(
      PredictLinks(fixture.Embedded(), {NodeId{4}, RelationId{0}, Side::kTail}, KnownEdges::kHide, options).status()));
}

TEST(NearestNodes, SameForAnyThreadsAndBlocks) {
  EmbeddedFixture fixture({.model = {ModelKind::kDistMult, Norm::kL1, 8}, .nodes = 9000, .edges = {0, 0, 0}});
  const auto first = NearestNodes(fixture.Embedded(), NodeId{4}, Similarity::kDot, {.k = 50});
  ASSERT_TRUE(first.ok());
  for (const std::size_t threads : {1U, 2U, 4U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    for (const std::uint64_t rows : {100U, 5000U, 0U}) {
      EXPECT_EQ(*NearestNodes(fixture.Embedded(), NodeId{4}, Similarity::kDot, {.k = 50, .block_rows = rows}), *first);
    }
  }
}

TEST(PredictLinks, AgreeWithScoringEveryEdgeAndKnowTheKnown) {
  for (const ModelSpec& model : AllModels()) {
    for (const bool reciprocal : {false, true}) {
      if (reciprocal && (model.kind == ModelKind::kDot || model.kind == ModelKind::kSourceContext)) continue;
      for (const auto& [side, relations] : {std::pair(Side::kTail, 2U), {Side::kHead, 2U}, {Side::kTail, 1U}}) {
        EmbeddedFixture fixture(
            {.model = model, .reciprocal = reciprocal, .nodes = 40, .relations = relations, .edges = {300, 9, 9}});
        const Edge edge = fixture.graph().test.front();
        const bool leaves_itself = model.kind == ModelKind::kDot || relations == 1;
        const LinkQuestion question{side == Side::kTail ? edge.head : edge.tail, edge.relation, side};
        for (const KnownEdges known : {KnownEdges::kHide, KnownEdges::kMark}) {
          std::vector<Prediction> expected;
          std::uint64_t all_known = 0;
          for (std::uint64_t node = 0; node < 40; ++node) {
            const Edge other = Replaced(edge, side, node);
            const bool is_known =
                fixture.filter.contains({Value(other.head), Value(other.relation), Value(other.tail)}) ||
                (model.kind == ModelKind::kDot &&
                 fixture.filter.contains({Value(other.tail), Value(other.relation), Value(other.head)}));
            all_known += is_known ? 1 : 0;
            const bool is_itself = leaves_itself && NodeId{node} == question.known;
            if ((is_known || is_itself) && known == KnownEdges::kHide) continue;
            expected.push_back({NodeId{node}, static_cast<float>(fixture.naive.SideScore(other, side)), is_known});
          }
          std::stable_sort(expected.begin(), expected.end(),
                           [](const Prediction& a, const Prediction& b) { return a.score > b.score; });
          expected.resize(std::min<std::size_t>(expected.size(), 30));
          const auto found = PredictLinks(fixture.Embedded(), question, known, {.k = 30});
          ASSERT_TRUE(found.ok());
          EXPECT_EQ(found->known, all_known);
          ASSERT_EQ(found->nodes.size(), expected.size());
          for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(found->nodes[i].node, expected[i].node) << i;
            EXPECT_EQ(found->nodes[i].known, expected[i].known) << i;
            EXPECT_FLOAT_EQ(found->nodes[i].score, expected[i].score) << i;  // square roots may differ in the last bit
          }
        }
      }
    }
  }
}

TEST(PredictLinks, PlausibleNodesComeFirst) {
  EmbeddedFixture fixture({.nodes = 60, .relations = 4, .edges = {70, 5, 5}});
  const NaiveTypes naive{.share = 0.4};
  std::uint64_t others = 0;
  for (const Edge& edge : fixture.graph().test) {
    for (const Side side : {Side::kTail, Side::kHead}) {
      const LinkQuestion question{side == Side::kTail ? edge.head : edge.tail, edge.relation, side};
      const auto rules = TypeRules::Count(fixture.opened(), {PlaceOf(edge.relation, side)}, {.share = naive.share});
      ASSERT_TRUE(rules.ok());
      for (const KnownEdges known : {KnownEdges::kHide, KnownEdges::kMark}) {
        const auto all = PredictLinks(fixture.Embedded(), question, known, {.k = 60});
        ASSERT_TRUE(all.ok());
        Predictions expected = *all;
        for (Prediction& prediction : expected.nodes) {
          prediction.plausible = naive.Plausible(fixture.graph().train, Value(prediction.node), edge.relation, side);
          others += prediction.plausible ? 0 : 1;
        }
        std::stable_partition(expected.nodes.begin(), expected.nodes.end(),
                              [](const Prediction& prediction) { return prediction.plausible; });
        for (const std::size_t k : {60U, 7U}) {
          expected.nodes.resize(std::min(k, expected.nodes.size()));
          for (const std::uint64_t memory : {1U << 30, 1U}) {
            const auto found =
                PredictLinks(fixture.Embedded(), question, known, {.k = k, .memory_bytes = memory}, &*rules);
            ASSERT_TRUE(found.ok());
            EXPECT_EQ(*found, expected);
          }
        }
      }
    }
  }
  EXPECT_GT(others, 100U);
}

TEST(PredictLinks, NanIsAnError) {
  EmbeddedFixture fixture({});
  fixture.naive.embeddings[0] = std::nanf("");
  fixture.Write();
  const LinkQuestion question{NodeId{3}, RelationId{0}, Side::kTail};
  EXPECT_FALSE(PredictLinks(fixture.Embedded(), question, KnownEdges::kHide, {}).ok());
  EXPECT_FALSE(NearestNodes(fixture.Embedded(), NodeId{3}, Similarity::kDot, {}).ok());
}

TEST(PredictLinks, SameForAnyMemory) {
  EmbeddedFixture fixture({.nodes = 3000, .relations = 1, .edges = {0, 0, 0}, .range = 9});
  for (std::uint64_t tail = 0; tail < 3000; tail += 2) {
    fixture.graph().train.push_back({NodeId{1}, NodeId{tail}, RelationId{0}, 1.0F});
  }
  fixture.Write();
  const LinkQuestion question{NodeId{1}, RelationId{0}, Side::kTail};
  for (const KnownEdges known : {KnownEdges::kHide, KnownEdges::kMark}) {
    const auto first = PredictLinks(fixture.Embedded(), question, known, {.k = 40});
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->known, 1500U);
    // 1,500 known answers of 64 bytes: the smaller ones take the nodes in many ranges.
    for (const std::uint64_t memory : {1U << 12, 1U << 16, 1U << 20}) {
      EXPECT_EQ(*PredictLinks(fixture.Embedded(), question, known, {.k = 40, .memory_bytes = memory}), *first);
    }
  }
}

TEST(LeastSearchMemory, HoldsAFewRowsOfAnyWidth) {
  EmbeddedFixture fixture({});
  EXPECT_GE(LeastSearchMemory(fixture.Embedded()), 1U << 20);
}

}  // namespace
}  // namespace octavo
