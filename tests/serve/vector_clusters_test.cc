#include "serve/vector_clusters.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

// Nodes whose vectors point along one of 12 axes, with some noise: each axis is a cluster.
TEST(VectorClustersTest, FindsSeparateDirections) {
  EmbeddedFixture fixture(
      {.model = {ModelKind::kDot, Norm::kL1, 16}, .nodes = 600, .relations = 1, .edges = {10, 0, 0}});
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  for (std::uint64_t node = 0; node < 600; ++node) {
    for (std::size_t i = 0; i < 16; ++i) {
      fixture.naive.embeddings[node * 16 + i] = static_cast<float>(random.Below(100)) / 1000.0F +
                                                (i == node % kClusters ? 1.0F + static_cast<float>(node % 5) : 0);
    }
  }
  fixture.Write();
  const auto clusters = ClusterVectors(fixture.Embedded(), {}, nullptr);
  ASSERT_TRUE(clusters.ok());
  ASSERT_EQ(clusters->size(), 600U);
  std::set<std::uint8_t> distinct;
  for (std::uint64_t node = 0; node < 600; ++node) {
    EXPECT_EQ((*clusters)[node], (*clusters)[node % kClusters]) << node;
    distinct.insert((*clusters)[node]);
  }
  EXPECT_EQ(distinct.size(), kClusters);
  // Some of the nodes, in the order in which they are given.
  std::vector<std::uint64_t> some;
  for (std::uint64_t node = 100; node < 600; ++node) {
    if (node % 5 != 0) some.push_back(node);
  }
  const auto of_some = ClusterVectors(fixture.Embedded(), some, nullptr);
  ASSERT_TRUE(of_some.ok());
  ASSERT_EQ(of_some->size(), some.size());
  std::map<std::uint64_t, std::uint8_t> of_direction;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::uint8_t first = of_direction.emplace(some[i] % kClusters, (*of_some)[i]).first->second;
    EXPECT_EQ((*of_some)[i], first) << some[i];
  }
}

TEST(VectorClustersTest, Stops) {
  const EmbeddedFixture fixture({.nodes = 100});
  EXPECT_TRUE(absl::IsCancelled(ClusterVectors(fixture.Embedded(), {}, [] { return true; }).status()));
}

}  // namespace
}  // namespace octavo
