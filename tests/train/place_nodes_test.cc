#include "train/place_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "graph/node_places.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

SmallGraph SomePlaces(std::uint64_t nodes, std::uint32_t relations, std::size_t edges) {
  SmallGraph graph{.names = NumberedNames(nodes), .relations = {}};
  for (std::uint32_t i = 0; i < relations; ++i) graph.relations.push_back("r" + std::to_string(10000 + i));
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  for (std::size_t i = 0; i < edges; ++i) {
    const std::uint32_t relation = static_cast<std::uint32_t>(random.Below(relations));
    graph.train.push_back(
        {NodeId{random.Below(nodes / (1 + relation % 4))}, NodeId{random.Below(nodes)}, RelationId{relation}, 1.0F});
  }
  graph.test.push_back({NodeId{nodes - 1}, NodeId{nodes - 1}, RelationId{relations - 1}, 1.0F});
  return graph;
}

std::map<std::uint64_t, std::set<std::uint64_t>> Expected(const SmallGraph& graph) {
  std::map<std::uint64_t, std::set<std::uint64_t>> nodes;
  for (const Edge& edge : graph.train) {
    nodes[2 * std::uint64_t{Value(edge.relation)}].insert(Value(edge.head));
    nodes[2 * std::uint64_t{Value(edge.relation)} + 1].insert(Value(edge.tail));
  }
  return nodes;
}

std::vector<std::uint64_t> Values(std::span<const NodeId> nodes) {
  std::vector<std::uint64_t> values;
  for (const NodeId node : nodes) values.push_back(Value(node));
  return values;
}

TEST(PlaceNodes, AreThoseOfTheTrainingEdges) {
  const TemporaryFolder folder;
  const SmallGraph small = SomePlaces(3000, 9, 8000);
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  ASSERT_OK_AND_ASSIGN(const PlaceNodes nodes, PlaceNodes::Gather(*graph, 1, {}));
  auto expected = Expected(small);
  const NodeRange ranges[] = {{10, 500}, {1000, 1001}, {2000, 3000}};
  const PlaceNodes some = nodes.In(ranges);
  for (std::uint64_t place = 0; place < PlaceCount(*graph); ++place) {
    const std::vector<std::uint64_t> all(expected[place].begin(), expected[place].end());
    EXPECT_EQ(Values(nodes.At(place)), all);
    std::vector<std::uint64_t> within;
    for (const std::uint64_t node : all) {
      for (const NodeRange& range : ranges) {
        if (node >= range.begin && node < range.end) within.push_back(node);
      }
    }
    EXPECT_EQ(Values(some.At(place)), within);
  }
}

// So many relations that a place with many nodes keeps only some.
TEST(PlaceNodes, ASampleIsUniform) {
  const TemporaryFolder folder;
  constexpr std::uint32_t kRelations = 40'000;
  SmallGraph small = SomePlaces(2000, kRelations, 10);
  for (std::uint64_t node = 0; node < 2000; ++node) {
    small.train.push_back({NodeId{node}, NodeId{5}, RelationId{3}, 1.0F});
  }
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  std::map<std::uint64_t, int> seen;
  constexpr int kSeeds = 40;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_OK_AND_ASSIGN(const PlaceNodes nodes, PlaceNodes::Gather(*graph, seed, {}));
    const std::vector<std::uint64_t> heads = Values(nodes.At(HeadPlace(RelationId{3})));
    ASSERT_EQ(heads.size(), PlaceNodes::kLeastNodesOfPlace);
    EXPECT_TRUE(std::is_sorted(heads.begin(), heads.end()));
    for (const std::uint64_t head : heads) ++seen[head / 500];
    EXPECT_EQ(Values(nodes.At(TailPlace(RelationId{3}))), std::vector<std::uint64_t>{5});
  }
  // 640 expected in each quarter, with a standard deviation of 22.
  for (std::uint64_t quarter = 0; quarter < 4; ++quarter) EXPECT_NEAR(seen[quarter], 640, 100);
}

TEST(PlaceNodes, SamplesByPlaceThenByNode) {
  const TemporaryFolder folder;
  SmallGraph small{.names = NumberedNames(100), .relations = {"a", "b", "c"}};
  for (std::uint64_t i = 0; i < 10; ++i) small.train.push_back({NodeId{i}, NodeId{50}, RelationId{0}, 1.0F});
  small.train.push_back({NodeId{60}, NodeId{70}, RelationId{1}, 1.0F});
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  ASSERT_OK_AND_ASSIGN(const PlaceNodes nodes, PlaceNodes::Gather(*graph, 1, {}));
  const std::uint64_t places[] = {HeadPlace(RelationId{0}), HeadPlace(RelationId{1}), HeadPlace(RelationId{1}),
                                  HeadPlace(RelationId{2})};
  const NodeRange ranges[] = {{80, 100}};
  std::vector<NodeId> drawn(4000);
  nodes.Sample(RandomStream(1, RandomPurpose::kTypedNegatives, 0, 0), places, ranges, drawn);
  std::map<std::uint64_t, int> counts;
  for (const NodeId node : drawn) ++counts[Value(node) < 10 ? 0 : Value(node) >= 80 ? 80 : Value(node)];
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_NEAR(counts[0], 1000, 150);
  EXPECT_NEAR(counts[60], 2000, 150);
  EXPECT_NEAR(counts[80], 1000, 150);  // no edge has the relation: any of the ranges
}

TEST(PlaceNodes, AStopEndsTheReading) {
  const TemporaryFolder folder;
  const std::unique_ptr<Graph> graph = WriteGraph(SomePlaces(100, 2, 50), folder.path());
  EXPECT_TRUE(absl::IsCancelled(PlaceNodes::Gather(*graph, 1, [] { return true; }).status()));
}

}  // namespace
}  // namespace octavo
