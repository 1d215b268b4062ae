#include "generate/knowledge_graph.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/generate/all_edges.h"

namespace octavo {
namespace {

GenerateOptions KgOptions(std::uint64_t nodes, std::uint64_t edges, std::uint64_t relations, double mixing) {
  GenerateOptions options;
  options.kind = GraphKind::kKg;
  options.nodes = nodes;
  options.edges = edges;
  options.relations = relations;
  options.mixing = mixing;
  return options;
}

TEST(KnowledgeGraph, RespectsTheTypesOfItsRelations) {
  const KnowledgeGraph graph(KgOptions(5003, 100'000, 12, 0.3));
  std::set<std::uint64_t> relations;
  for (const GeneratedEdge& edge : AllEdges(graph)) {
    ASSERT_LT(edge.relation, 12U);
    ASSERT_EQ(graph.TypeOf(edge.head), graph.HeadType(edge.relation));
    ASSERT_EQ(graph.TypeOf(edge.tail), graph.TailType(edge.relation));
    ASSERT_NE(edge.head, edge.tail);
    relations.insert(edge.relation);
  }
  EXPECT_EQ(relations.size(), 12U);
}

TEST(KnowledgeGraph, TailsComeFromTheClusterButForTheMixedShare) {
  constexpr std::uint64_t kEdges = 100'000;
  for (const double mixing : {0.0, 0.25}) {
    const KnowledgeGraph graph(KgOptions(8000, kEdges, 5, mixing));
    double outside = 0;
    for (const GeneratedEdge& edge : AllEdges(graph)) {
      outside += graph.ClusterOf(edge.tail) != graph.TailCluster(edge.relation, graph.ClusterOf(edge.head)) ? 1 : 0;
    }
    // A random tail is in the right cluster by coincidence, one time in the 62 clusters of a type or slightly more.
    EXPECT_NEAR(outside / kEdges, mixing * 61 / 62, mixing == 0 ? 0 : 0.03);
  }
}

TEST(KnowledgeGraph, RelationsAndHeadsFollowZipf) {
  constexpr std::uint64_t kEdges = 300'000;
  const KnowledgeGraph graph(KgOptions(800, kEdges, 9, 0.1));
  std::vector<double> relations(9);
  std::vector<double> heads(800);
  for (const GeneratedEdge& edge : AllEdges(graph)) {
    ++relations[edge.relation];
    if (graph.TypeOf(edge.head) == graph.HeadType(0)) ++heads[edge.head];
  }
  std::sort(relations.begin(), relations.end(), std::greater<>());
  const double harmonic = 2.828968;  // 1 + 1/2 + ... + 1/9
  for (std::size_t rank = 0; rank < 9; ++rank) {
    const double expected = kEdges / harmonic / static_cast<double>(rank + 1);
    EXPECT_NEAR(relations[rank], expected, 6 * std::sqrt(expected));
  }
  std::sort(heads.begin(), heads.end(), std::greater<>());  // 100 of the type
  EXPECT_NEAR(heads[0] / heads[1], 2, 0.3);
  EXPECT_NEAR(heads[0] / heads[9], 10, 2);
}

TEST(KnowledgeGraph, TheMostFrequentTailsAreNoLowNumbers) {
  constexpr std::uint64_t kNodes = 8000;
  std::vector<double> tails(kNodes);
  for (const GeneratedEdge& edge : AllEdges(KnowledgeGraph(KgOptions(kNodes, 200'000, 20, 0)))) ++tails[edge.tail];
  double low = 0;
  for (std::size_t node = 0; node < kNodes / 2; ++node) low += tails[node];
  EXPECT_NEAR(low / 200'000, 0.5, 0.2);
}

TEST(KnowledgeGraph, TwoNodesATypeAreEnough) {
  GenerateOptions options = KgOptions(16, 1000, 3, 0.5);
  options.types = 8;
  EXPECT_EQ(AllEdges(KnowledgeGraph(options)).size(), 1000U);
}

}  // namespace
}  // namespace octavo
