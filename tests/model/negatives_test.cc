#include "model/negatives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/chunk_kernel.h"

namespace octavo {
namespace {

RandomStream Stream(std::uint64_t batch) { return {1, RandomPurpose::kNegatives, 3, batch}; }

Edge MakeEdge(std::uint64_t head, std::uint32_t relation, std::uint64_t tail) {
  return {NodeId{head}, NodeId{tail}, RelationId{relation}};
}

std::vector<NodeId> Sample(std::uint64_t batch, std::span<const NodeRange> ranges, std::span<const Edge> edges,
                           Side side, float fraction, std::size_t size) {
  std::vector<NodeId> nodes(size);
  SampleNegatives(Stream(batch), ranges, edges, side, fraction, nodes);
  return nodes;
}

// Sum over the cells of (observed - expected)^2 / expected.
double ChiSquare(const std::map<std::uint64_t, double>& expected, std::span<const NodeId> nodes) {
  std::map<std::uint64_t, double> observed;
  for (const NodeId node : nodes) observed[Value(node)] += 1;
  double sum = 0;
  for (const auto& [node, count] : observed) EXPECT_TRUE(expected.contains(node)) << node;
  for (const auto& [node, count] : expected) sum += std::pow(observed[node] - count, 2) / count;
  return sum;
}

TEST(SampleNegativesTest, IsUniformOverRanges) {
  const NodeRange ranges[] = {{5, 25}, {100, 101}, {1000, 1079}};
  const Edge edge = MakeEdge(1, 0, 2);
  const auto nodes = Sample(0, ranges, std::span(&edge, 1), Side::kTail, 0.0F, 100000);
  std::map<std::uint64_t, double> expected;
  for (const auto& [begin, end] : ranges) {
    for (std::uint64_t node = begin; node < end; ++node) expected[node] = 1000;
  }
  EXPECT_LT(ChiSquare(expected, nodes), 148.2);  // 99 degrees of freedom, 0.1 %
}

TEST(SampleNegativesTest, DegreeFractionFollowsTheSideOfTheBatch) {
  const std::vector<Edge> batch = {MakeEdge(1, 0, 10), MakeEdge(1, 0, 11), MakeEdge(1, 1, 11), MakeEdge(2, 0, 11)};
  const NodeRange ranges[] = {{500, 600}};
  const auto tails = Sample(1, ranges, batch, Side::kTail, 1.0F, 4000);
  EXPECT_LT(ChiSquare({{10, 1000}, {11, 3000}}, tails), 10.8);  // 1 degree of freedom, 0.1 %
  const auto heads = Sample(2, ranges, batch, Side::kHead, 1.0F, 4000);
  EXPECT_LT(ChiSquare({{1, 3000}, {2, 1000}}, heads), 10.8);
}

TEST(SampleNegativesTest, DegreeByWeightFollowsTheWeights) {
  std::vector<Edge> batch = {MakeEdge(1, 0, 10), MakeEdge(1, 0, 11), MakeEdge(2, 0, 11), MakeEdge(3, 0, 12)};
  batch[0].weight = 8;
  batch[1].weight = 1.5F;
  batch[2].weight = 0.5F;
  batch[3].weight = 6;
  const NodeRange ranges[] = {{500, 600}};
  for (const auto& [side, expected] :
       {std::pair(Side::kTail, std::map<std::uint64_t, double>{{10, 2000}, {11, 500}, {12, 1500}}),
        std::pair(Side::kHead, std::map<std::uint64_t, double>{{1, 2375}, {2, 125}, {3, 1500}})}) {
    std::vector<NodeId> nodes(8000, NodeId{7});
    SampleNegatives(Stream(1), ranges, batch, side, 0.5F, nodes, DegreeBy::kWeights);
    EXPECT_LT(ChiSquare(expected, std::span(nodes).first(4000)), 13.8);  // 2 degrees of freedom, 0.1 %
    for (std::size_t j = 4000; j < nodes.size(); ++j) EXPECT_GE(Value(nodes[j]), 500U);
  }
}

TEST(SampleNegativesTest, FractionIsRoundedAndComesFirst) {
  const std::vector<Edge> batch = {MakeEdge(1, 0, 2)};
  const NodeRange ranges[] = {{500, 600}};
  for (const auto& [fraction, size, expected] :
       {std::tuple{0.0F, 10, 0}, {0.24F, 10, 2}, {0.26F, 10, 3}, {0.5F, 1000, 500}, {1.0F, 10, 10}, {0.5F, 0, 0}}) {
    const auto nodes = Sample(3, ranges, batch, Side::kTail, fraction, static_cast<std::size_t>(size));
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      EXPECT_EQ(nodes[j] == NodeId{2}, j < static_cast<std::size_t>(expected)) << fraction << " " << j;
    }
  }
}

TEST(SampleNegativesTest, IsAFunctionOfItsArguments) {
  const std::vector<Edge> batch = {MakeEdge(1, 0, 2), MakeEdge(3, 0, 4)};
  const NodeRange ranges[] = {{0, 1000000}};
  EXPECT_EQ(Sample(7, ranges, batch, Side::kTail, 0.5F, 100), Sample(7, ranges, batch, Side::kTail, 0.5F, 100));
  EXPECT_NE(Sample(7, ranges, batch, Side::kTail, 0.5F, 100), Sample(8, ranges, batch, Side::kTail, 0.5F, 100));
}

std::vector<MaskedPair> BruteForce(std::span<const Edge> chunk, std::span<const NodeId> negatives, Side side) {
  std::vector<MaskedPair> pairs;
  for (std::uint32_t i = 0; i < chunk.size(); ++i) {
    for (std::uint32_t j = 0; j < negatives.size(); ++j) {
      Edge corrupted = chunk[i];
      (side == Side::kTail ? corrupted.tail : corrupted.head) = negatives[j];
      const bool positive = std::any_of(chunk.begin(), chunk.end(), [&](const Edge& edge) {
        return edge.head == corrupted.head && edge.tail == corrupted.tail && edge.relation == corrupted.relation;
      });
      if (positive) pairs.push_back({i, j});
    }
  }
  return pairs;
}

TEST(FindAccidentalPositivesTest, AgreesWithBruteForce) {
  std::vector<MaskedPair> pairs = {{9, 9}};  // old contents are overwritten
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    RandomStream random = Stream(trial);
    const std::uint64_t nodes = 1 + random.Below(12);  // few: duplicates of edges and negatives, self-loops, many hits
    std::vector<Edge> chunk(random.Below(40));
    for (Edge& edge : chunk) {
      edge = MakeEdge(random.Below(nodes), static_cast<std::uint32_t>(random.Below(3)), random.Below(nodes));
      edge.weight = random.NextFloat();  // no part of an edge's identity
    }
    std::vector<NodeId> negatives(random.Below(30));
    for (NodeId& node : negatives) node = NodeId{random.Below(nodes + 3)};
    for (const Side side : {Side::kTail, Side::kHead}) {
      FindAccidentalPositives(chunk, OneQueryEach(chunk.size()), negatives, side, pairs);
      ASSERT_EQ(pairs, BruteForce(chunk, negatives, side)) << "trial " << trial;
    }
  }
}

// Adjacent edges with the same query share it: it has the pairs of all its edges, each once.
TEST(FindAccidentalPositivesTest, QueriesThatEdgesShareAgreeWithBruteForce) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    RandomStream random = Stream(trial);
    const std::uint64_t nodes = 1 + random.Below(12);
    std::vector<Edge> chunk(random.Below(40));
    for (Edge& edge : chunk) {
      edge = MakeEdge(random.Below(nodes), static_cast<std::uint32_t>(random.Below(3)), random.Below(nodes));
    }
    std::ranges::stable_sort(chunk, {}, [](const Edge& edge) { return std::pair(edge.head, edge.relation); });
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> query_of(chunk.size());
    for (std::uint32_t i = 0; i < chunk.size(); ++i) {
      if (i == 0 || chunk[i].head != chunk[i - 1].head || chunk[i].relation != chunk[i - 1].relation)
        begins.push_back(i);
      query_of[i] = static_cast<std::uint32_t>(begins.size() - 1);
    }
    begins.push_back(static_cast<std::uint32_t>(chunk.size()));
    std::vector<NodeId> negatives(random.Below(30));
    for (NodeId& node : negatives) node = NodeId{random.Below(nodes + 3)};
    std::set<MaskedPair> expected;
    for (const MaskedPair& pair : BruteForce(chunk, negatives, Side::kTail)) {
      expected.insert({query_of[pair.query], pair.negative});
    }
    std::vector<MaskedPair> pairs;
    FindAccidentalPositives(chunk, begins, negatives, Side::kTail, pairs);
    ASSERT_EQ(pairs, std::vector<MaskedPair>(expected.begin(), expected.end())) << "trial " << trial;
  }
}

}  // namespace
}  // namespace octavo
