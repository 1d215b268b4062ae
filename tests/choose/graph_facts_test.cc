#include "choose/graph_facts.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/small_graph.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{1} << 30;

Edge Triple(std::uint64_t head, std::uint32_t relation, std::uint64_t tail) {
  return {.head = NodeId{head}, .tail = NodeId{tail}, .relation = RelationId{relation}};
}

GraphFacts FactsOf(const SmallGraph& graph, std::uint64_t memory = kMemory) {
  TemporaryFolder folder;
  const auto facts = MeasureFacts(*WriteGraph(graph, folder / "graph"), memory);
  EXPECT_OK(facts);
  return facts.ok() ? *facts : GraphFacts();
}

TEST(MeasureFactsTest, CountsAndDensity) {
  SmallGraph graph{.names = NumberedNames(8), .relations = {"a", "b"}};
  graph.train = {Triple(0, 0, 1), Triple(1, 1, 2)};
  graph.valid = {Triple(2, 0, 3)};
  const GraphFacts facts = FactsOf(graph);
  EXPECT_EQ(facts.nodes, 8);
  EXPECT_EQ(facts.edges, 2);
  EXPECT_EQ(facts.relations, 2);
  EXPECT_TRUE(facts.HasRelations());
  EXPECT_FALSE(facts.sampled);
  EXPECT_DOUBLE_EQ(facts.EdgesPerNode(), 0.25);
}

TEST(MeasureFactsTest, InverseRelationsAreThoseWithMostEdgesInTheOppositeDirection) {
  SmallGraph graph{.names = NumberedNames(20), .relations = {"above", "below", "near"}};
  for (std::uint64_t i = 0; i < 8; ++i) graph.train.push_back(Triple(i, 0, i + 8));  // above
  for (std::uint64_t i = 0; i < 6; ++i) graph.train.push_back(Triple(i + 8, 1, i));  // below: of 6 of the 8
  for (std::uint64_t i = 6; i < 8; ++i) graph.train.push_back(Triple(i + 8, 2, i));  // near: of the other 2
  const GraphFacts facts = FactsOf(graph);
  // 6 of above (the 2 with near count for another relation), 6 of below, 2 of near.
  EXPECT_DOUBLE_EQ(facts.inverse_share, 14.0 / 16);
  EXPECT_EQ(facts.symmetric_share, 0);
}

TEST(MeasureFactsTest, SymmetricEdgesAreThoseOfOneRelationInBothDirections) {
  SmallGraph graph{.names = NumberedNames(6), .relations = {"a", "b"}};
  graph.train = {Triple(0, 0, 1), Triple(1, 0, 0), Triple(2, 0, 3), Triple(4, 1, 5), Triple(2, 1, 2)};
  const GraphFacts facts = FactsOf(graph);
  EXPECT_DOUBLE_EQ(facts.symmetric_share, 2.0 / 5);  // an edge from a node to itself is no pair
  EXPECT_EQ(facts.inverse_share, 0);
}

TEST(MeasureFactsTest, TwoKindsAreHeadsThatAreNoTails) {
  SmallGraph graph{.names = NumberedNames(6), .relations = {"a"}};
  graph.train = {Triple(0, 0, 3), Triple(0, 0, 4), Triple(2, 0, 3)};
  graph.valid = {Triple(3, 0, 4)};
  EXPECT_TRUE(FactsOf(graph).two_kinds);
  graph.train.push_back(Triple(3, 0, 4));
  EXPECT_FALSE(FactsOf(graph).two_kinds);
}

TEST(MeasureFactsTest, QueriesWithSeveralAnswersAreCountedOnce) {
  SmallGraph graph{.names = NumberedNames(6), .relations = {"a", "b"}};
  // (0, a, ?) has three answers, and each of them one query back: four of six.
  graph.train = {Triple(0, 0, 1), Triple(0, 0, 2), Triple(0, 0, 3)};
  EXPECT_DOUBLE_EQ(FactsOf(graph).query_share, 4.0 / 6);
}

TEST(MeasureFactsTest, TheDegreeOfAnEndCountsHubsAsOftenAsTheyHaveEdges) {
  SmallGraph graph{.names = NumberedNames(201)};
  for (std::uint64_t i = 1; i <= 200; ++i) graph.train.push_back(Triple(0, 0, i));
  // Half of the ends are the centre with 200 edges, half have one.
  EXPECT_NEAR(FactsOf(graph).end_degree, std::sqrt(200.0), 1e-9);
  EXPECT_EQ(FactsOf(graph).largest_share, 1);
  for (std::uint64_t i = 1; i <= 200; ++i) graph.train.push_back(Triple(i, 0, i % 200 + 1));
  EXPECT_EQ(FactsOf(graph).largest_share, 0.5);
}

TEST(MeasureFactsTest, LittleMemoryMeasuresASampleWithTheSameShares) {
  SmallGraph graph{.names = NumberedNames(3000), .relations = {"a", "b"}};
  for (std::uint64_t i = 0; i < 3000; ++i) {
    for (std::uint64_t k = 1; k < 6; ++k) {
      const std::uint64_t other = (i * i * 31 + i * 7919 + k * 613) % 3000;  // far apart, as the hashes of names are
      if (other == i) continue;
      graph.train.push_back(Triple(i, 0, other));
      if (k < 4) graph.train.push_back(Triple(other, 1, i));
    }
  }
  const GraphFacts whole = FactsOf(graph);
  const GraphFacts sampled = FactsOf(graph, /*memory=*/1);
  EXPECT_FALSE(whole.sampled);
  EXPECT_TRUE(sampled.sampled);
  EXPECT_NEAR(whole.inverse_share, 6.0 / 8, 0.01);
  EXPECT_NEAR(sampled.inverse_share, whole.inverse_share, 0.05);
  EXPECT_EQ(sampled.edges, whole.edges);
  EXPECT_NEAR(sampled.end_degree, whole.end_degree, 0.35 * whole.end_degree);
  EXPECT_LT(sampled.largest_share, 0.01);
}

}  // namespace
}  // namespace octavo
