#include "evaluate/non_edges.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

bool Has(const EmbeddedFixture& fixture, const Edge& edge) {
  return fixture.filter.contains({Value(edge.head), Value(edge.relation), Value(edge.tail)});
}

std::vector<std::optional<Edge>> MustDraw(const EmbeddedFixture& fixture, std::span<const Edge> edges,
                                          std::uint64_t first, const NonEdgeRule& rule = {}) {
  auto drawn = DrawNonEdges(fixture.opened(), edges, first, rule);
  EXPECT_OK(drawn);
  return drawn.ok() ? *drawn : std::vector<std::optional<Edge>>();
}

TEST(DrawNonEdges, PairsOfAGraphWithoutRelations) {
  // A third of the pairs are edges.
  EmbeddedFixture fixture({.nodes = 15, .relations = 1, .edges = {60, 20, 20}});
  const std::vector<Edge> edges(4000);
  for (const bool either_way : {false, true}) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, int> counts;
    for (const std::optional<Edge>& drawn : MustDraw(fixture, edges, 0, {1, {.either_way = either_way}})) {
      ASSERT_TRUE(drawn.has_value());
      EXPECT_NE(drawn->head, drawn->tail);
      EXPECT_FALSE(Has(fixture, *drawn));
      EXPECT_FALSE(either_way && Has(fixture, {drawn->tail, drawn->head, drawn->relation, 1.0F}));
      ++counts[{Value(drawn->head), Value(drawn->tail)}];
    }
    // Every possible pair occurs, equally often: within five standard deviations.
    std::size_t pairs = 0;
    for (std::uint64_t head = 0; head < 15; ++head) {
      for (std::uint64_t tail = 0; tail < 15; ++tail) {
        const Edge edge{NodeId{head}, NodeId{tail}, RelationId{0}, 1.0F};
        const Edge reverse{NodeId{tail}, NodeId{head}, RelationId{0}, 1.0F};
        if (head != tail && !Has(fixture, edge) && !(either_way && Has(fixture, reverse))) ++pairs;
      }
    }
    EXPECT_EQ(counts.size(), pairs);
    const double expected = 4000.0 / static_cast<double>(pairs);
    for (const auto& [pair, count] : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
  }
}

TEST(DrawNonEdges, ReplacesTailsAndHeadsInTurn) {
  EmbeddedFixture fixture({.nodes = 30, .relations = 3, .edges = {300, 50, 50}});
  const std::vector<Edge>& edges = fixture.graph().train;
  const std::vector<std::optional<Edge>> drawn = MustDraw(fixture, edges, 10);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    ASSERT_TRUE(drawn[i].has_value());
    EXPECT_EQ(drawn[i]->relation, edges[i].relation);
    EXPECT_FALSE(Has(fixture, *drawn[i]));
    EXPECT_NE(drawn[i]->head, drawn[i]->tail);
    EXPECT_TRUE(i % 2 == 0 ? drawn[i]->head == edges[i].head : drawn[i]->tail == edges[i].tail) << i;
  }
}

TEST(DrawNonEdges, AFunctionOfTheNumberAlone) {
  EmbeddedFixture fixture({.nodes = 12, .relations = 2, .edges = {150, 20, 20}});  // dense: draws are often edges
  const std::vector<Edge>& edges = fixture.graph().train;
  const std::vector<std::optional<Edge>> all = MustDraw(fixture, edges, 0);
  std::vector<std::optional<Edge>> pieces;
  for (std::size_t first = 0; first < edges.size(); first += 7) {
    const std::size_t count = std::min<std::size_t>(7, edges.size() - first);
    for (const auto& edge :
         WithThreads(2, [&] { return MustDraw(fixture, std::span(edges).subspan(first, count), first); })) {
      pieces.push_back(edge);
    }
  }
  EXPECT_EQ(pieces, all);
  EXPECT_NE(MustDraw(fixture, edges, 0, {.seed = 2}), all);
}

TEST(DrawNonEdges, WhereThereIsNone) {
  // Every pair of three nodes is an edge with relation 0. With relation 1 only the tails of node 0 are exhausted.
  EmbeddedFixture fixture({.nodes = 3, .relations = 2, .edges = {0, 0, 0}});
  std::vector<Edge>& train = fixture.graph().train;
  for (std::uint64_t head = 0; head < 3; ++head) {
    for (std::uint64_t tail = 0; tail < 3; ++tail) {
      train.push_back({NodeId{head}, NodeId{tail}, RelationId{0}, 1.0F});
    }
  }
  train.push_back({NodeId{0}, NodeId{1}, RelationId{1}, 1.0F});
  train.push_back({NodeId{0}, NodeId{2}, RelationId{1}, 1.0F});
  fixture.Write();
  const std::vector<std::optional<Edge>> drawn = MustDraw(fixture, std::vector<Edge>{train[1], train[5], train[9]}, 0);
  EXPECT_FALSE(drawn[0].has_value());
  EXPECT_FALSE(drawn[1].has_value());
  ASSERT_TRUE(drawn[2].has_value());  // after 32 draws the other end is replaced
  EXPECT_EQ(*drawn[2], (Edge{NodeId{2}, NodeId{1}, RelationId{1}, 1.0F}));

  EmbeddedFixture lonely({.nodes = 1, .relations = 1, .edges = {1, 0, 0}});
  EXPECT_FALSE(MustDraw(lonely, lonely.graph().train, 0)[0].has_value());
}

}  // namespace
}  // namespace octavo
