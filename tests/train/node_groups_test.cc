#include "train/node_groups.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using testing::ElementsAre;

Edge E(std::uint64_t head, std::uint64_t tail) { return {.head = NodeId{head}, .tail = NodeId{tail}}; }

// Groups: [0, 10) with [20, 30), and all others.
TEST(NodeGroups, OfAQueryAreThoseOfItsAnswersOrBothIfTheAnchorIsInOne) {
  const NodeGroups groups({{0, 10}, {20, 30}});
  const std::vector<Edge> edges = {E(1, 12), E(15, 29), E(15, 30), E(40, 20), E(9, 0), E(15, 40)};
  const std::vector<NodeId> negatives = {NodeId{0}, NodeId{9}, NodeId{10}, NodeId{19}, NodeId{20}, NodeId{30}};
  GroupSets sets;
  groups.Find(edges, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}, negatives, Side::kTail, sets);
  EXPECT_THAT(sets.queries, ElementsAre(2, 1, 3, 1, 3, 3));
  EXPECT_THAT(sets.negatives, ElementsAre(1, 1, 2, 2, 1, 2));
  groups.Find(edges, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}, negatives, Side::kHead, sets);
  EXPECT_THAT(sets.queries, ElementsAre(1, 2, 3, 2, 3, 3));
  EXPECT_EQ(sets.negatives.size(), negatives.size());
  // Edges 1 and 2 are answers to one query.
  groups.Find(edges, std::vector<std::uint32_t>{0, 1, 3, 4, 5, 6}, negatives, Side::kTail, sets);
  EXPECT_THAT(sets.queries, ElementsAre(2, 3, 1, 3, 3));
}

TEST(NodeGroups, WithoutGroupsOrNegativesThereAreNoSets) {
  const std::vector<Edge> edges = {E(1, 12)};
  const std::vector<NodeId> negatives = {NodeId{0}};
  GroupSets sets = {.queries = {1, 2}, .negatives = {1}};
  NodeGroups().Find(edges, std::vector<std::uint32_t>{0, 1}, negatives, Side::kTail, sets);
  EXPECT_TRUE(sets.queries.empty() && sets.negatives.empty());
  EXPECT_FALSE(NodeGroups().any());
  NodeGroups({{0, 5}}).Find(edges, std::vector<std::uint32_t>{0, 1}, {}, Side::kHead, sets);
  EXPECT_TRUE(sets.queries.empty() && sets.negatives.empty());
}

}  // namespace
}  // namespace octavo
