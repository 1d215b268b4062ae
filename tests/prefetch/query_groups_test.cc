#include "prefetch/query_groups.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/small_cells.h"

namespace octavo {
namespace {

constexpr std::uint32_t kRelations = 3;

std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, float>> Sorted(const std::vector<Edge>& edges) {
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, float>> keys;
  for (const Edge& e : edges) keys.emplace_back(Value(e.head), Value(e.relation), Value(e.tail), e.weight);
  std::ranges::sort(keys);
  return keys;
}

TEST(QueryGroups, HoldEachEdgeBothWaysOnce) {
  const std::vector<Edge> edges = DistinctEdges(500, 40, kRelations);
  std::vector<Edge> grouped = edges;
  QueryGroups(1, kRelations).Group(0, grouped);
  std::vector<Edge> expected = edges;
  for (const Edge& edge : edges) {
    expected.push_back({.head = edge.tail,
                        .tail = edge.head,
                        .relation = static_cast<RelationId>(Value(edge.relation) + kRelations),
                        .weight = edge.weight});
  }
  EXPECT_EQ(Sorted(grouped), Sorted(expected));
}

TEST(QueryGroups, PutEachQuestionInOnePlace) {
  std::vector<Edge> edges = DistinctEdges(500, 40, kRelations);
  QueryGroups(1, kRelations).Group(0, edges);
  std::set<std::pair<std::uint64_t, std::uint32_t>> seen;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool begins = i == 0 || edges[i].head != edges[i - 1].head || edges[i].relation != edges[i - 1].relation;
    if (begins) {
      EXPECT_TRUE(seen.emplace(Value(edges[i].head), Value(edges[i].relation)).second) << i;
    }
  }
  EXPECT_LT(seen.size(), 241U);  // 40 nodes, 3 relations, both ways
}

TEST(QueryGroups, ComeInAnotherOrderWithEachEpochAndSeedAndTheSameWhateverTheEdgesOrder) {
  const std::vector<Edge> edges = DistinctEdges(300, 40, kRelations);
  const auto group = [&](std::uint64_t seed, std::uint32_t epoch, std::vector<Edge> of) {
    QueryGroups groups(seed, kRelations);
    groups.Group(epoch, of);
    return of;
  };
  const std::vector<Edge> first = group(1, 0, edges);
  EXPECT_NE(group(1, 1, edges), first);
  EXPECT_NE(group(2, 0, edges), first);
  EXPECT_EQ(group(1, 0, {edges.rbegin(), edges.rend()}), first);
}

}  // namespace
}  // namespace octavo
