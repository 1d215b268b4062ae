#include "choose/edge_sample.h"

#include <algorithm>
#include <set>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/small_graph.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

// Edges i -> 7 i + k, and each one back, between `nodes` nodes.
SmallGraph BothWays(std::uint64_t nodes, std::uint64_t each) {
  SmallGraph graph{.names = NumberedNames(nodes)};
  std::set<std::pair<std::uint64_t, std::uint64_t>> ends;
  for (std::uint64_t i = 0; i < nodes; ++i) {
    for (std::uint64_t k = 1; k <= each; ++k) {
      const std::uint64_t j = (7 * i + k) % nodes;
      if (i == j) continue;
      ends.insert({i, j});
      ends.insert({j, i});
    }
  }
  for (const auto& [head, tail] : ends) graph.train.push_back({.head = NodeId{head}, .tail = NodeId{tail}});
  return graph;
}

bool HasBothWays(const EdgeSample& sample) {
  std::set<std::pair<NodeId, NodeId>> ends;
  for (const Edge& edge : sample.edges) ends.insert({edge.head, edge.tail});
  return std::ranges::all_of(ends, [&](const auto& pair) { return ends.contains({pair.second, pair.first}); });
}

TEST(SampleEdgesTest, TakesAllEdgesOfASmallGraph) {
  TemporaryFolder folder;
  const SmallGraph made = BothWays(300, 3);
  const auto graph = WriteGraph(made, folder / "graph");
  const auto sample = SampleEdges(*graph, made.train.size());
  ASSERT_OK(sample);
  EXPECT_TRUE(sample->whole);
  EXPECT_EQ(sample->edges.size(), made.train.size());
}

TEST(SampleEdgesTest, TakesCellsOfBothDirectionsTogether) {
  TemporaryFolder folder;
  const SmallGraph made = BothWays(4000, 3);  // four partitions
  const auto graph = WriteGraph(made, folder / "graph");
  const auto sample = SampleEdges(*graph, made.train.size() / 2);
  ASSERT_OK(sample);
  EXPECT_FALSE(sample->whole);
  EXPECT_GT(sample->edges.size(), made.train.size() / 8);
  EXPECT_LE(sample->edges.size(), made.train.size() / 2);
  EXPECT_TRUE(HasBothWays(*sample));
}

TEST(SampleEdgesTest, DrawsPairsOfNodesWhereACellIsTooLarge) {
  TemporaryFolder folder;
  const SmallGraph made = BothWays(1000, 6);  // one partition
  const auto graph = WriteGraph(made, folder / "graph");
  const auto sample = SampleEdges(*graph, 2000);
  ASSERT_OK(sample);
  EXPECT_FALSE(sample->whole);
  EXPECT_NEAR(static_cast<double>(sample->edges.size()), 2000, 200);
  EXPECT_TRUE(HasBothWays(*sample));
  const auto again = SampleEdges(*graph, 2000);
  ASSERT_OK(again);
  EXPECT_EQ(sample->edges, again->edges);
}

}  // namespace
}  // namespace octavo
