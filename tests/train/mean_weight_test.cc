#include "train/mean_weight.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

TEST(MeanWeight, IsThatOfAllTrainingEdges) {
  const TinyTraining training({.weights = true});
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  const CellReader& edges = graph->Edges(Split::kTrain);
  ASSERT_OK_AND_ASSIGN(const std::vector<Edge> all, edges.ReadAll());
  double sum = 0;
  for (const Edge& edge : all) sum += edge.weight;
  ASSERT_OK_AND_ASSIGN(const double mean, MeanWeight(edges, {}));
  EXPECT_NEAR(mean, sum / static_cast<double>(all.size()), 1e-12);
  EXPECT_NE(mean, 1);
  EXPECT_TRUE(absl::IsCancelled(MeanWeight(edges, [] { return true; }).status()));
}

TEST(MeanWeight, IsOneWithoutWeights) {
  const TinyTraining training;
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  ASSERT_OK_AND_ASSIGN(const double mean, MeanWeight(graph->Edges(Split::kTrain), {}));
  EXPECT_EQ(mean, 1);
}

}  // namespace
}  // namespace octavo
