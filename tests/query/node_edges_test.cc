#include "query/node_edges.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

// Many nodes of one partition size: more than one partition, so that cells are skipped.
TEST(NodeEdgesTest, FindsWhatANaiveLoopFinds) {
  EmbeddedFixture fixture({.nodes = 3 * kPartitionRowQuantum, .relations = 3, .edges = {9000, 300, 300}});
  for (const std::uint64_t node : {std::uint64_t{0}, kPartitionRowQuantum, 3 * kPartitionRowQuantum - 1}) {
    fixture.graph().train.push_back({NodeId{node}, NodeId{node}, RelationId{1}, 1.0F});  // a self-loop
  }
  fixture.Write();
  const SmallGraph& graph = fixture.graph();
  for (const std::uint64_t node :
       {std::uint64_t{0}, std::uint64_t{7}, kPartitionRowQuantum, 3 * kPartitionRowQuantum - 1}) {
    std::map<std::pair<std::uint32_t, bool>, std::multiset<std::pair<std::uint64_t, Split>>> expected;
    std::uint64_t degree = 0;
    const std::vector<Edge>* splits[] = {&graph.train, &graph.valid, &graph.test};
    for (std::size_t i = 0; i < 3; ++i) {
      for (const Edge& edge : *splits[i]) {
        const auto split = static_cast<Split>(i);
        if (Value(edge.head) == node) expected[{Value(edge.relation), false}].insert({Value(edge.tail), split});
        if (Value(edge.tail) == node) expected[{Value(edge.relation), true}].insert({Value(edge.head), split});
        if (i == 0) degree += (Value(edge.head) == node ? 1U : 0U) + (Value(edge.tail) == node ? 1U : 0U);
      }
    }
    const auto found = FindNodeEdges(fixture.opened(), NodeId{node}, 1000);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->degree, degree);
    ASSERT_EQ(found->groups.size(), expected.size());
    for (const NodeEdges::Group& group : found->groups) {
      const auto& wanted = expected[{Value(group.relation), !group.is_head}];
      EXPECT_EQ(group.count(), wanted.size());
      std::multiset<std::pair<std::uint64_t, Split>> others;
      for (const auto& [other, split] : group.others) others.insert({Value(other), split});
      EXPECT_EQ(others, wanted);
    }
  }
}

TEST(NodeEdgesTest, ListsTheFirstOnesOfMany) {
  EmbeddedFixture fixture({.nodes = 600, .relations = 1, .edges = {1, 0, 0}});
  fixture.graph().train.clear();
  for (std::uint64_t other = 599; other > 0; --other) {
    fixture.graph().train.push_back({NodeId{0}, NodeId{other}, RelationId{0}, 1.0F});
  }
  fixture.Write();
  const auto found = FindNodeEdges(fixture.opened(), NodeId{0}, 5);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->groups.size(), 1U);
  EXPECT_EQ(found->groups[0].counts[0], 599U);
  ASSERT_EQ(found->groups[0].others.size(), 5U);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(Value(found->groups[0].others[i].first), i + 1);
  EXPECT_TRUE(absl::IsCancelled(FindNodeEdges(fixture.opened(), NodeId{0}, 5, [] { return true; }).status()));
}

}  // namespace
}  // namespace octavo
