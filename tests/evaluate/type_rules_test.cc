#include "evaluate/type_rules.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "oneapi/tbb/global_control.h"
#include "tests/evaluate/fixture.h"
#include "tests/evaluate/naive_types.h"

namespace octavo {
namespace {

// Nodes of 4 kinds (node % 4), relations between two of them each, and some edges at random. Relation 4 has no training
// edge, nodes from 2,900 on have none either.
SmallGraph KindsOfNodes() {
  SmallGraph graph{.names = NumberedNames(3000), .relations = {"r0", "r1", "r2", "r3", "r4"}};
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  const auto draw = [&](std::uint64_t kind) { return NodeId{4 * random.Below(725) + kind}; };
  for (int i = 0; i < 3000; ++i) {
    const auto relation = static_cast<std::uint32_t>(random.Below(4));
    Edge edge{draw(relation), draw((relation * relation + 1) % 4), RelationId{relation}, 1.0F};
    if (random.Below(40) == 0) edge.tail = draw(random.Below(4));
    graph.train.push_back(edge);
  }
  graph.test.push_back({NodeId{1}, NodeId{2}, RelationId{4}, 1.0F});
  return graph;
}

std::vector<std::uint64_t> AllPlaces(const Graph& graph) {
  std::vector<std::uint64_t> places(PlaceCount(graph));
  for (std::uint64_t place = 0; place < places.size(); ++place) places[place] = place;
  return places;
}

// The mask of all nodes, in pieces.
std::vector<bool> Plausible(const Graph& graph, const TypeRules& rules, std::uint64_t place, std::uint64_t piece) {
  std::vector<bool> plausible;
  const absl::Status status = VisitNodePlaces(graph, 0, graph.node_count(), 1 << 20, [&](const NodePlaces& places) {
    for (std::uint64_t first = places.first(); first < places.last(); first += piece) {
      const std::uint64_t last = std::min(first + piece, places.last());
      TypeMask mask;
      rules.Mark(places, first, last, mask);
      std::uint64_t count = 0;
      for (std::uint64_t node = first; node < last; ++node) {
        plausible.push_back(mask.Contains(rules.RuleOf(place), node));
        count += plausible.back() ? 1 : 0;
      }
      EXPECT_EQ(mask.Count(rules.RuleOf(place)), count);
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  return plausible;
}

void ExpectNaive(const SmallGraph& small, const Graph& graph, const TypeRules& rules, const NaiveTypes& naive) {
  for (const std::uint32_t relation : {0U, 2U, 4U}) {
    for (const Side side : {Side::kHead, Side::kTail}) {
      const std::vector<bool> found = Plausible(graph, rules, PlaceOf(RelationId{relation}, side), 1000);
      // Each node is a loop over all edges: some of them.
      for (std::uint64_t node = 0; node < 3000; node += 23) {
        EXPECT_EQ(found[node], naive.Plausible(small.train, node, RelationId{relation}, side))
            << relation << " " << static_cast<int>(side) << " " << node;
      }
    }
  }
}

TEST(TypeRules, AgreeWithSetsForAnyMemoryAndThreads) {
  const TemporaryFolder folder;
  const SmallGraph small = KindsOfNodes();
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  for (const double share : {0.02, 0.4, 1.0}) {
    const auto rules = TypeRules::Count(*graph, AllPlaces(*graph), {.share = share});
    ASSERT_TRUE(rules.ok());
    ExpectNaive(small, *graph, *rules, {.share = share});
    for (const std::size_t threads : {1U, 3U}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      const auto tight = TypeRules::Count(*graph, AllPlaces(*graph), {.share = share, .memory_bytes = 1});
      ASSERT_TRUE(tight.ok());
      for (const std::uint64_t place : AllPlaces(*graph)) {
        EXPECT_TRUE(Plausible(*graph, *rules, place, 5000) == Plausible(*graph, *tight, place, 130)) << place;
      }
    }
  }
}

TEST(TypeRules, SeparateTheKinds) {
  const TemporaryFolder folder;
  const SmallGraph small = KindsOfNodes();
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  std::set<std::uint64_t> seen;
  for (const Edge& edge : small.train) seen.insert({Value(edge.head), Value(edge.tail)});
  // Relation 2 goes from nodes 4n + 2 to nodes 4n + 1, apart from one edge in forty.
  const auto rules = TypeRules::Count(*graph, {PlaceOf(RelationId{2}, Side::kTail)}, {.share = 0.5});
  ASSERT_TRUE(rules.ok());
  const std::vector<bool> plausible = Plausible(*graph, *rules, PlaceOf(RelationId{2}, Side::kTail), 5000);
  std::array<std::uint64_t, 4> counts = {};
  for (const std::uint64_t node : seen) counts[node % 4] += plausible[node] ? 1 : 0;
  EXPECT_GT(counts[1], 600U);
  EXPECT_LT(counts[0] + counts[2] + counts[3], 60U);
}

TEST(TypeRules, OfGivenTypes) {
  const TemporaryFolder folder;
  const SmallGraph small = KindsOfNodes();
  const std::unique_ptr<Graph> graph = WriteGraph(small, folder.path());
  // A third of the nodes has no type, another third has two.
  NaiveTypes naive{.share = 0.3};
  NodeLabels types;
  types.names = {"a", "b", "c", "d", "even"};
  for (std::uint64_t node = 0; node < 3000; ++node) {
    if (node % 3 == 0) continue;
    types.nodes.push_back(node);
    types.offsets.push_back(types.labels.size());
    types.labels.push_back(static_cast<std::uint32_t>(node % 5 % 4));  // unlike the kinds
    if (node % 3 == 2 && node % 2 == 0) types.labels.push_back(4);
    for (std::uint64_t i = types.offsets.back(); i < types.labels.size(); ++i) {
      naive.types[node].insert(types.names[types.labels[i]]);
    }
  }
  types.offsets.push_back(types.labels.size());
  for (const std::uint64_t memory : {1U, 1U << 20}) {
    const auto rules =
        TypeRules::Count(*graph, AllPlaces(*graph), {.share = 0.3, .types = &types, .memory_bytes = memory});
    ASSERT_TRUE(rules.ok());
    ExpectNaive(small, *graph, *rules, naive);
  }
}

TEST(TypeRules, HoldWhatTheySay) {
  const TemporaryFolder folder;
  const std::unique_ptr<Graph> graph = WriteGraph(KindsOfNodes(), folder.path());
  const auto rules = TypeRules::Count(*graph, {1, 3, 3}, {});
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(rules->size(), 2U);
  EXPECT_LT(rules->Bytes(), TypeRules::LeastBytes(*graph, 0));
}

}  // namespace
}  // namespace octavo
