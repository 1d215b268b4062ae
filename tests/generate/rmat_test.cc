#include "generate/rmat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/generate/all_edges.h"

namespace octavo {
namespace {

GenerateOptions RmatOptions(std::uint64_t nodes, std::uint64_t edges) {
  GenerateOptions options;
  options.nodes = nodes;
  options.edges = edges;
  return options;
}

// R-MAT as in the paper: one quadrant per level; edges past the last node are drawn again.
std::vector<GeneratedEdge> NaiveRmat(std::uint64_t nodes, std::uint64_t edges) {
  std::mt19937_64 random(5);
  std::discrete_distribution<int> quadrant({0.57, 0.19, 0.19, 0.05});
  std::vector<GeneratedEdge> made;
  while (made.size() < edges) {
    GeneratedEdge edge;
    for (std::uint64_t side = std::bit_ceil(nodes); side > 1; side /= 2) {
      const int choice = quadrant(random);
      edge.head = 2 * edge.head + (choice >= 2 ? 1 : 0);
      edge.tail = 2 * edge.tail + (choice % 2 == 1 ? 1 : 0);
    }
    if (edge.head < nodes && edge.tail < nodes) made.push_back(edge);
  }
  return made;
}

// Heads and tails of each node, the most frequent first.
std::vector<double> FallingDegrees(const std::vector<GeneratedEdge>& edges, std::uint64_t nodes) {
  std::vector<double> degrees(nodes);
  for (const GeneratedEdge& edge : edges) {
    ++degrees.at(edge.head);
    ++degrees.at(edge.tail);
  }
  std::sort(degrees.begin(), degrees.end(), std::greater<>());
  return degrees;
}

double ShareOfTop(const std::vector<double>& degrees, std::size_t count) {
  return std::accumulate(degrees.begin(), degrees.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
         std::accumulate(degrees.begin(), degrees.end(), 0.0);
}

TEST(Rmat, HasTheDegreesOfTheNaiveOne) {
  constexpr std::uint64_t kEdges = 400'000;
  for (const std::uint64_t nodes : {4096, 5000}) {  // a power of two, and another number
    const std::vector<double> made = FallingDegrees(AllEdges(Rmat(RmatOptions(nodes, kEdges))), nodes);
    const std::vector<double> naive = FallingDegrees(NaiveRmat(nodes, kEdges), nodes);
    EXPECT_GT(ShareOfTop(made, nodes / 100), 0.1);
    for (const std::size_t percent : {1, 5, 20, 50}) {
      EXPECT_NEAR(ShareOfTop(made, nodes * percent / 100), ShareOfTop(naive, nodes * percent / 100), 0.01)
          << percent << " % of " << nodes;
    }
    EXPECT_NEAR(made[0], naive[0], 8 * std::sqrt(naive[0]));
  }
}

TEST(Rmat, CellsHaveTheProductsOfTheParameters) {
  constexpr int kEdges = 1'000'000;
  std::vector<int> cells(16);
  for (const GeneratedEdge& edge : AllEdges(Rmat(RmatOptions(4, kEdges)))) ++cells.at(edge.head * 4 + edge.tail);
  std::vector<double> expected;
  for (const double first : Rmat::kQuadrants) {
    for (const double second : Rmat::kQuadrants) expected.push_back(kEdges * first * second);
  }
  // The nodes are renumbered, so cells can only be identified by their size.
  std::sort(cells.begin(), cells.end());
  std::sort(expected.begin(), expected.end());
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(cells[i], expected[i], 6 * std::sqrt(expected[i]));
}

TEST(Rmat, TheNumberOfANodeSaysNothingOfItsDegree) {
  constexpr std::uint64_t kNodes = 10'000;
  double low = 0;
  constexpr std::uint64_t kEdges = 200'000;
  for (const GeneratedEdge& edge : AllEdges(Rmat(RmatOptions(kNodes, kEdges)))) low += edge.head < kNodes / 2 ? 1 : 0;
  EXPECT_NEAR(low / kEdges, 0.5, 0.1);  // 0.76 before the renumbering
}

TEST(Rmat, ReachesEndsOfEveryBit) {
  constexpr std::uint64_t kNodes = (std::uint64_t{3} << 32) + 12'345;
  std::uint64_t bits = 0;
  std::set<std::uint64_t> heads;
  for (const GeneratedEdge& edge : AllEdges(Rmat(RmatOptions(kNodes, 20'000)))) {
    ASSERT_LT(edge.head, kNodes);
    ASSERT_LT(edge.tail, kNodes);
    bits |= edge.head | edge.tail;
    heads.insert(edge.head);
  }
  EXPECT_EQ(bits, (std::uint64_t{1} << 34) - 1);
  EXPECT_GT(heads.size(), 10'000U);
}

}  // namespace
}  // namespace octavo
