#include "walk/step_rule.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/walk/dense_walks.h"
#include "tests/walk/walked_graph.h"

namespace octavo {
namespace {

constexpr int kDraws = 4000;

class StepRuleTest : public ::testing::Test {
 protected:
  void Import(const std::string& text, const ImportOptions& options) {
    ASSERT_OK(ImportText(folder_, text, options));
    graph_ = Graph::Open(folder_ / "graph").value();
    edges_ = graph_->Edges(Split::kTrain).ReadAll().value();
    transitions_ = Transitions(graph_->node_count(), edges_);
  }

  // Draws many steps of every walk that came from t to u, and compares their frequencies with the formula.
  void ExpectSecondOrder(double p, double q) {
    const Adjacency rows = AllRows(*graph_);
    const SecondOrderStep step(p, q);
    for (const Edge& edge : edges_) {
      const auto t = static_cast<std::uint32_t>(Value(edge.head));
      const auto u = static_cast<std::uint32_t>(Value(edge.tail));
      std::vector<double> expected = SecondOrderRow(transitions_, t, u, p, q);
      for (double& probability : expected) probability *= kDraws;
      std::vector<double> observed(expected.size());
      int ended = 0;
      for (int i = 0; i < kDraws; ++i) {
        RandomStream stream = StepStream(1, static_cast<std::uint64_t>(i) * 1000 + u, t + 1);
        const auto next = step.Draw(rows, u, rows, t, stream);
        if (next) {
          ++observed[*next];
        } else {
          ++ended;
        }
      }
      if (rows.Neighbours(u).empty()) {
        EXPECT_EQ(ended, kDraws);
      } else {
        EXPECT_EQ(ended, 0);
        EXPECT_LT(ChiSquareScore(observed, expected), 5) << t << " " << u << " p " << p << " q " << q;
      }
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<Graph> graph_;
  std::vector<Edge> edges_;
  Matrix transitions_;
};

TEST_F(StepRuleTest, DrawsNeighboursByWeight) {
  Import(RandomEdges(12, 60, true, 1), {.columns = "head,tail,weight"});
  const Adjacency rows = AllRows(*graph_);
  for (std::uint32_t node = 0; node < graph_->node_count(); ++node) {
    std::vector<double> expected = transitions_[node];
    for (double& probability : expected) probability *= kDraws;
    std::vector<double> observed(expected.size());
    for (int i = 0; i < kDraws; ++i) {
      RandomStream stream = StepStream(3, static_cast<std::uint64_t>(i), node + 1);
      const auto next = DrawNeighbour(rows, node, stream);
      ASSERT_EQ(next.has_value(), !rows.Neighbours(node).empty());
      if (next) ++observed[*next];
    }
    EXPECT_LT(ChiSquareScore(observed, expected), 5) << node;
  }
}

TEST_F(StepRuleTest, StepsOfSecondOrderHaveTheProbabilitiesOfNode2vec) {
  Import(KarateText(), {.columns = "head,tail", .undirected = true});
  for (const auto& [p, q] : {std::pair(1.0, 1.0), std::pair(0.25, 4.0), std::pair(4.0, 0.25), std::pair(0.01, 2.0)}) {
    ExpectSecondOrder(p, q);
  }
}

// One-way edges, weights, copies of an edge, self-loops and dead ends.
TEST_F(StepRuleTest, StepsOfSecondOrderOnADirectedGraphWithWeights) {
  Import(RandomEdges(14, 70, true, 2) + "n1\tn1\t2\nn2\tn1\t1\nn1\tn2\t1\nn1\tn2\t1\n",
         {.columns = "head,tail,weight", .merge_duplicates = false});
  for (const auto& [p, q] : {std::pair(0.1, 0.5), std::pair(8.0, 0.3), std::pair(0.05, 20.0)}) ExpectSecondOrder(p, q);
}

TEST_F(StepRuleTest, AStepIsAFunctionOfSeedWalkAndNumber) {
  RandomStream one = StepStream(1, 2, 3);
  RandomStream same = StepStream(1, 2, 3);
  EXPECT_EQ(one.Next64(), same.Next64());
  for (RandomStream other : {StepStream(2, 2, 3), StepStream(1, 3, 3), StepStream(1, 2, 4)}) {
    EXPECT_NE(StepStream(1, 2, 3).Next64(), other.Next64());
  }
}

}  // namespace
}  // namespace octavo
