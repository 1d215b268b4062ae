#include "evaluate/known_edges.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(FindEdges, AsASetOfAllSplits) {
  EmbeddedFixture fixture({.nodes = 20, .relations = 2, .edges = {150, 60, 60}});
  std::vector<Edge> triples;
  for (std::uint64_t head = 0; head < 20; ++head) {
    for (std::uint64_t tail = 0; tail < 20; ++tail) {
      for (std::uint32_t relation = 0; relation < 2; ++relation) {
        triples.push_back({NodeId{head}, NodeId{tail}, RelationId{relation}, 7.0F});
        if (head == tail) triples.push_back(triples.back());  // the same twice
      }
    }
  }
  const auto has = [&](const Edge& edge) {
    return fixture.filter.contains({Value(edge.head), Value(edge.relation), Value(edge.tail)});
  };
  std::size_t found = 0;
  for (const EdgeMatch match : {EdgeMatch{}, {.either_way = true}, {.any_relation = true}, {true, true}}) {
    for (const int threads : {1, 3}) {
      ASSERT_OK_AND_ASSIGN(const std::vector<char> is_edge,
                           WithThreads(threads, [&] { return FindEdges(fixture.opened(), triples, match); }));
      ASSERT_EQ(is_edge.size(), triples.size());
      for (std::size_t i = 0; i < triples.size(); ++i) {
        bool expected = false;
        for (std::uint32_t relation = 0; relation < 2; ++relation) {
          if (!match.any_relation && relation != Value(triples[i].relation)) continue;
          expected |= has({triples[i].head, triples[i].tail, RelationId{relation}, 1.0F});
          expected |= match.either_way && has({triples[i].tail, triples[i].head, RelationId{relation}, 1.0F});
        }
        EXPECT_EQ(is_edge[i] != 0, expected);
        found += is_edge[i] != 0 ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(found, 400U);
  EXPECT_TRUE(FindEdges(fixture.opened(), {}, {})->empty());
}

}  // namespace
}  // namespace octavo
