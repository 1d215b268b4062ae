#include "train/answer_weights.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

TEST(AnswerWeights, FollowTheDegreeAndHaveAMeanOfOne) {
  const TinyTraining training({.nodes = 20, .edges = 90, .weights = true});
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  const CellReader& edges = graph->Edges(Split::kTrain);
  ASSERT_OK_AND_ASSIGN(const std::vector<Edge> all, edges.ReadAll());
  std::vector<double> degrees(graph->node_count());
  for (const Edge& edge : all) {
    ++degrees[Value(edge.head)];
    ++degrees[Value(edge.tail)];
  }
  double mean = 0;
  for (const double degree : degrees) mean += degree * degree / (2.0 * static_cast<double>(all.size()));
  for (const double share : {0.3, 0.9, 1.0}) {
    ASSERT_OK_AND_ASSIGN(const AnswerWeights weights, AnswerWeights::Gather(edges, graph->node_count(), share, {}));
    double sum = 0;
    for (const Edge& edge : all) sum += weights.Of(edge.head) + weights.Of(edge.tail);
    EXPECT_NEAR(sum / (2.0 * static_cast<double>(all.size())), 1, 1e-6);
    for (std::uint64_t node = 0; node < graph->node_count(); ++node) {
      EXPECT_NEAR(weights.Of(NodeId{node}), 1 - share + share * degrees[node] / mean, 1e-5);
    }
  }
}

TEST(AnswerWeights, AreOneWithoutShareAndWithEqualDegrees) {
  const TinyTraining training;
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  ASSERT_OK_AND_ASSIGN(const AnswerWeights none,
                       AnswerWeights::Gather(graph->Edges(Split::kTrain), graph->node_count(), 0, {}));
  for (std::uint64_t node = 0; node < graph->node_count(); ++node) EXPECT_EQ(none.Of(NodeId{node}), 1);
  const TinyTraining pair({.nodes = 2, .relations = 1, .edges = 1});
  ASSERT_OK_AND_ASSIGN(const auto two, Graph::Open(pair.graph_folder()));
  ASSERT_OK_AND_ASSIGN(const AnswerWeights equal,
                       AnswerWeights::Gather(two->Edges(Split::kTrain), two->node_count(), 0.9, {}));
  ASSERT_OK_AND_ASSIGN(const std::vector<Edge> edge, two->Edges(Split::kTrain).ReadAll());
  ASSERT_NE(edge[0].head, edge[0].tail);
  EXPECT_FLOAT_EQ(equal.Of(NodeId{0}), 1);
  EXPECT_FLOAT_EQ(equal.Of(NodeId{1}), 1);
}

TEST(AnswerWeights, StopWhenAsked) {
  const TinyTraining training;
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  const CellReader& edges = graph->Edges(Split::kTrain);
  EXPECT_TRUE(absl::IsCancelled(AnswerWeights::Gather(edges, graph->node_count(), 0.9, [] { return true; }).status()));
}

}  // namespace
}  // namespace octavo
