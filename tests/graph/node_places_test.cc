#include "graph/node_places.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

// A graph of several partitions, with a node at many places and nodes at none.
SmallGraph ManyPlaces() {
  SmallGraph graph{.names = NumberedNames(5000), .relations = {"r0", "r1", "r2", "r3", "r4", "r5", "r6"}};
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  const auto draw = [&] {
    return Edge{NodeId{random.Below(random.Below(5000) + 1)}, NodeId{random.Below(4000)},
                RelationId{static_cast<std::uint32_t>(random.Below(7))}, 1.0F};
  };
  for (int i = 0; i < 20'000; ++i) graph.train.push_back(draw());
  for (int i = 0; i < 500; ++i) graph.test.push_back(draw());
  return graph;
}

std::vector<NodePlace> Expected(const SmallGraph& graph) {
  std::set<NodePlace> pairs;
  for (const Edge& edge : graph.train) {
    pairs.insert({Value(edge.head), 2 * std::uint64_t{Value(edge.relation)}});
    pairs.insert({Value(edge.tail), 2 * std::uint64_t{Value(edge.relation)} + 1});
  }
  return {pairs.begin(), pairs.end()};
}

TEST(NodePlaces, AreThoseOfTheTrainingEdgesForAnyMemoryAndThreads) {
  const TemporaryFolder folder;
  const SmallGraph small = ManyPlaces();
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  const std::vector<NodePlace> expected = Expected(small);
  for (const std::size_t threads : {1U, 3U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    for (const std::uint64_t most : {700U, 4000U, 1'000'000U}) {
      std::vector<NodePlace> found;
      std::uint64_t next = 0;
      const absl::Status status = VisitNodePlaces(*graph, 0, 5000, most, [&](const NodePlaces& places) {
        EXPECT_EQ(places.first(), next);
        next = places.last();
        EXPECT_LE(next - places.first(), most);
        for (const NodePlace& pair : places.pairs()) {
          EXPECT_TRUE(pair.node >= places.first() && pair.node < places.last());
          found.push_back(pair);
        }
        return absl::OkStatus();
      });
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(next, 5000U);
      EXPECT_TRUE(found == expected) << most;
    }
  }
}

TEST(NodePlaces, OfSomeNodes) {
  const TemporaryFolder folder;
  const SmallGraph small = ManyPlaces();
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  const auto places = NodePlaces::Gather(*graph, 1000, 3000, 1'000'000);
  ASSERT_TRUE(places.ok() && places->has_value());
  std::vector<NodePlace> expected = Expected(small);
  std::erase_if(expected, [](const NodePlace& pair) { return pair.node < 1500 || pair.node >= 1600; });
  const std::span<const NodePlace> found = (*places)->In(1500, 1600);
  EXPECT_TRUE(std::vector<NodePlace>(found.begin(), found.end()) == expected);
  EXPECT_TRUE((*places)->In(3000, 9000).empty());
}

TEST(NodePlaces, GiveUpWhereThereAreTooMany) {
  const TemporaryFolder folder;
  const std::unique_ptr<Graph> graph = WriteGraph(ManyPlaces(), folder.path());
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  const auto places = NodePlaces::Gather(*graph, 0, 5000, 1000);
  ASSERT_TRUE(places.ok());
  EXPECT_FALSE(places->has_value());
}

TEST(VisitNodePlaces, OneNodeMayHaveMorePlacesThanTheLimit) {
  const TemporaryFolder folder;
  SmallGraph small{.names = NumberedNames(3), .relations = {}};
  for (std::uint32_t r = 0; r < 2000; ++r) {
    small.relations.push_back("r" + std::to_string(10'000 + r));
    small.train.push_back({NodeId{1}, NodeId{2}, RelationId{r}, 1.0F});
  }
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  std::vector<NodePlace> found;
  const absl::Status status = VisitNodePlaces(*graph, 0, 3, 1, [&](const NodePlaces& places) {
    found.insert(found.end(), places.pairs().begin(), places.pairs().end());
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok());
  EXPECT_TRUE(found == Expected(small));
}

TEST(VisitNodePlaces, StopsAtAnError) {
  const TemporaryFolder folder;
  const std::unique_ptr<Graph> graph = WriteGraph(ManyPlaces(), folder.path());
  int visits = 0;
  const absl::Status status = VisitNodePlaces(*graph, 0, 5000, 500, [&](const NodePlaces&) {
    return ++visits == 2 ? absl::CancelledError("stopped") : absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_EQ(visits, 2);
}

TEST(NodePlaces, TrainingEdgesOfANodeAreFoundOnEitherSide) {
  const TemporaryFolder folder;
  const SmallGraph small = ManyPlaces();
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  std::set<std::uint64_t> ends;
  for (const Edge& edge : small.train) ends.insert({Value(edge.head), Value(edge.tail)});
  ASSERT_LT(ends.size(), 5000U);
  for (std::uint64_t node = 0; node < 5000; ++node) {
    const absl::StatusOr<bool> has = HasTrainingEdge(*graph, NodeId{node});
    ASSERT_TRUE(has.ok()) << has.status().message();
    EXPECT_EQ(*has, ends.contains(node)) << node;
  }
}

}  // namespace
}  // namespace octavo
