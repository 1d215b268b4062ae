#include "train/node_groups.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Edge E(std::uint64_t head, std::uint64_t tail) { return {.head = NodeId{head}, .tail = NodeId{tail}}; }

// Groups: [0, 10) with [20, 30), and all others.
TEST(NodeGroups, OfAnchorsAnswersAndNegatives) {
  const NodeGroups groups({{0, 10}, {20, 30}}, 0.25);
  const std::vector<Edge> edges = {E(1, 12), E(15, 29), E(15, 30), E(40, 20), E(9, 0)};
  const std::vector<NodeId> negatives = {NodeId{0}, NodeId{9}, NodeId{10}, NodeId{19}, NodeId{20}, NodeId{30}};
  ChunkGroups found;
  groups.Find(edges, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}, negatives, Side::kTail, found);
  EXPECT_THAT(found.anchors, ElementsAre(0, 1, 1, 1, 0));
  EXPECT_THAT(found.answers, ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(found.negatives, ElementsAre(0, 0, 1, 1, 0, 1));
  EXPECT_FLOAT_EQ(found.View().log_share, std::log(0.25F));
  groups.Find(edges, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}, negatives, Side::kHead, found);
  EXPECT_THAT(found.anchors, ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(found.answers, ElementsAre(0, 1, 1, 1, 0));
  EXPECT_EQ(found.negatives.size(), negatives.size());
  // Edges 1 and 2 are answers to one query.
  groups.Find(edges, std::vector<std::uint32_t>{0, 1, 3, 4, 5}, negatives, Side::kTail, found);
  EXPECT_THAT(found.anchors, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(found.answers, ElementsAre(1, 0, 1, 0, 0));
}

TEST(NodeGroups, WithoutGroupsOrNegativesThereAreNone) {
  const std::vector<Edge> edges = {E(1, 12)};
  const std::vector<NodeId> negatives = {NodeId{0}};
  ChunkGroups found = {.anchors = {1, 0}, .answers = {1}, .negatives = {1}};
  NodeGroups().Find(edges, std::vector<std::uint32_t>{0, 1}, negatives, Side::kTail, found);
  EXPECT_THAT(found.anchors, IsEmpty());
  EXPECT_THAT(found.answers, IsEmpty());
  EXPECT_THAT(found.negatives, IsEmpty());
  EXPECT_FALSE(NodeGroups().any());
  NodeGroups({{0, 5}}, 0.5).Find(edges, std::vector<std::uint32_t>{0, 1}, {}, Side::kHead, found);
  EXPECT_THAT(found.negatives, IsEmpty());
}

}  // namespace
}  // namespace octavo
