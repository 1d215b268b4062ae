#include "generate/stochastic_blocks.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/generate/all_edges.h"

namespace octavo {
namespace {

GenerateOptions SbmOptions(std::uint64_t nodes, std::uint64_t edges, std::uint64_t blocks, double mixing) {
  GenerateOptions options;
  options.kind = GraphKind::kSbm;
  options.nodes = nodes;
  options.edges = edges;
  options.blocks = blocks;
  options.mixing = mixing;
  return options;
}

TEST(StochasticBlocks, KeepTheShareOfEdgesInsideThatWasAskedFor) {
  constexpr std::uint64_t kEdges = 200'000;
  for (const double mixing : {0.0, 0.1, 0.5, 1.0}) {
    double between = 0;
    for (const GeneratedEdge& edge : AllEdges(StochasticBlocks(SbmOptions(1003, kEdges, 7, mixing)))) {
      between += edge.head % 7 != edge.tail % 7 ? 1 : 0;
    }
    EXPECT_NEAR(between, mixing * kEdges, 6 * std::sqrt(kEdges * mixing * (1 - mixing)) + 0.5) << mixing;
  }
}

TEST(StochasticBlocks, DegreesArePoisson) {
  constexpr std::uint64_t kNodes = 20'000;
  constexpr double kMean = 10;
  std::vector<int> degrees(kNodes);
  for (const GeneratedEdge& edge : AllEdges(StochasticBlocks(SbmOptions(kNodes, 100'000, 16, 0.2)))) {
    ASSERT_NE(edge.head, edge.tail);
    ++degrees.at(edge.head);
    ++degrees.at(edge.tail);
  }
  double sum = 0;
  double squares = 0;
  for (const int degree : degrees) {
    sum += degree;
    squares += (degree - kMean) * (degree - kMean);
  }
  EXPECT_EQ(sum, kMean * kNodes);
  EXPECT_NEAR(squares / kNodes, kMean, 0.6);  // the variance is the mean; its own deviation is about 0.1
}

TEST(StochasticBlocks, BlocksOfTwoNodesGiveTheOneEdgeTheyHave) {
  for (const GeneratedEdge& edge : AllEdges(StochasticBlocks(SbmOptions(8, 1000, 4, 0)))) {
    ASSERT_EQ(edge.head % 4, edge.tail % 4);
    ASSERT_NE(edge.head, edge.tail);
  }
}

}  // namespace
}  // namespace octavo
