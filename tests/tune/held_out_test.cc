#include "tune/held_out.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

using Pair = std::pair<std::uint64_t, std::uint64_t>;

Pair Ends(const Edge& edge) { return std::minmax<std::uint64_t>(Value(edge.head), Value(edge.tail)); }

std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> Triples(const Graph& graph,
                                                                             std::initializer_list<Split> splits) {
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> triples;
  for (const Split split : splits) {
    const auto edges = graph.Edges(split).ReadAll();
    EXPECT_OK(edges);
    for (const Edge& edge : *edges) triples.emplace_back(Value(edge.head), Value(edge.relation), Value(edge.tail));
  }
  std::ranges::sort(triples);
  return triples;
}

TEST(HeldOutShareTest, IsEnoughToCompareAndNotMore) {
  EXPECT_DOUBLE_EQ(HeldOutShare(78), 0.2);
  EXPECT_DOUBLE_EQ(HeldOutShare(1000), 0.1);
  EXPECT_DOUBLE_EQ(HeldOutShare(20'000), 0.05);
  EXPECT_DOUBLE_EQ(HeldOutShare(10'000'000), 0.0005);
}

TEST(MakeHeldOutGraphTest, DividesTheTrainingEdgesAndKeepsTheRest) {
  const TinyTraining training({.nodes = 60, .edges = 600});
  ASSERT_OK_AND_ASSIGN(const auto whole, Graph::Open(training.graph_folder()));
  const auto folder = training.folder() / "held-out";
  ASSERT_OK_AND_ASSIGN(const GraphDescription made, MakeHeldOutGraph(*whole, 1, folder));
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(folder));
  EXPECT_EQ(graph->description(), made);
  EXPECT_EQ(made.train_edges + made.valid_edges, whole->description().train_edges);
  EXPECT_GT(made.valid_edges, 30U);
  EXPECT_LT(made.valid_edges, made.train_edges / 2);
  EXPECT_EQ(Triples(*graph, {Split::kTrain, Split::kValid}), Triples(*whole, {Split::kTrain}));
  std::set<Pair> valid;
  ASSERT_OK_AND_ASSIGN(const auto held, graph->Edges(Split::kValid).ReadAll());
  for (const Edge& edge : held) valid.insert(Ends(edge));
  ASSERT_OK_AND_ASSIGN(const auto kept, graph->Edges(Split::kTrain).ReadAll());
  for (const Edge& edge : kept) EXPECT_FALSE(valid.contains(Ends(edge))) << "known from its opposite";
  EXPECT_LT(valid.size(), held.size()) << "some pairs have several edges";
  ASSERT_OK_AND_ASSIGN(const std::uint64_t pairs, CountValidPairs(*graph));
  EXPECT_EQ(pairs, valid.size());
  EXPECT_NE(made.fingerprint, whole->description().fingerprint);
  std::uint64_t counted = 0;
  for (std::uint32_t r = 0; r < graph->relation_count(); ++r) counted += graph->RelationTrainEdges(RelationId{r});
  EXPECT_EQ(counted, made.train_edges);
}

TEST(MakeHeldOutGraphTest, IsAFunctionOfTheGraphAndTheSeed) {
  const TinyTraining training({.nodes = 60, .edges = 600, .weights = true});
  ASSERT_OK_AND_ASSIGN(const auto whole, Graph::Open(training.graph_folder()));
  ASSERT_OK_AND_ASSIGN(const auto a, MakeHeldOutGraph(*whole, 1, training.folder() / "a"));
  ASSERT_OK_AND_ASSIGN(const auto again, MakeHeldOutGraph(*whole, 2, training.folder() / "a"));
  ASSERT_OK_AND_ASSIGN(const auto b, MakeHeldOutGraph(*whole, 1, training.folder() / "b"));
  ASSERT_OK_AND_ASSIGN(const auto c, MakeHeldOutGraph(*whole, 2, training.folder() / "c"));
  EXPECT_EQ(a, again) << "it was there";
  EXPECT_EQ(a, b);
  EXPECT_NE(a.fingerprint, c.fingerprint);
}

TEST(MakeHeldOutGraphTest, RefusesAGraphOfOneEdge) {
  const TinyTraining training({.nodes = 1, .relations = 1, .edges = 1});
  ASSERT_OK_AND_ASSIGN(const auto whole, Graph::Open(training.graph_folder()));
  EXPECT_ERROR(MakeHeldOutGraph(*whole, 1, training.folder() / "a"), kUsage, "are too few");
  EXPECT_FALSE(std::filesystem::exists(training.folder() / "a"));
}

}  // namespace
}  // namespace octavo
