#include "layout/neighbor_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "layout/neighbor_layout.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

constexpr std::uint32_t kNeighborDim = 5;
constexpr std::uint32_t kNear = 6;

FixtureOptions Nodes(std::uint64_t nodes) {
  return {.model = {ModelKind::kDot, Norm::kL1, kNeighborDim},
          .nodes = nodes,
          .relations = 1,
          .edges = {1, 0, 0},
          .range = 10'000};
}

std::vector<std::vector<std::uint32_t>> ListsOf(const ScratchTable& table, std::uint64_t nodes) {
  std::vector<std::vector<std::uint32_t>> lists(nodes, std::vector<std::uint32_t>(table.width()));
  for (std::uint64_t node = 0; node < nodes; ++node) EXPECT_OK(table.Read(node, lists[node]));
  return lists;
}

// The nearest nodes by cosine, compared with all.
std::vector<std::uint32_t> Exact(const NaiveModel& model, std::uint64_t node) {
  std::vector<std::pair<double, std::uint32_t>> scored;
  for (std::uint32_t other = 0; other < model.nodes; ++other) {
    double ab = 0, bb = 0;
    for (std::size_t d = 0; d < kNeighborDim; ++d) {
      ab += model.E(node, d) * model.E(other, d);
      bb += model.E(other, d) * model.E(other, d);
    }
    if (other != node) scored.emplace_back(-ab / std::sqrt(bb), other);
  }
  std::ranges::sort(scored);
  std::vector<std::uint32_t> nearest;
  for (std::size_t i = 0; i < kNear; ++i) nearest.push_back(scored[i].second);
  return nearest;
}

double Recall(const NaiveModel& model, const std::vector<std::vector<std::uint32_t>>& lists) {
  std::size_t hits = 0;
  for (std::uint64_t node = 0; node < model.nodes; ++node) {
    for (const std::uint32_t near : Exact(model, node)) {
      hits += static_cast<std::size_t>(std::count(lists[node].begin(), lists[node].begin() + kNear, near));
    }
  }
  return static_cast<double>(hits) / static_cast<double>(model.nodes * kNear);
}

// The second half of a list has the best-ranked nodes that have the node in their first half.
void CheckReverse(const std::vector<std::vector<std::uint32_t>>& lists) {
  std::map<std::uint32_t, std::vector<std::pair<std::size_t, std::uint32_t>>> reverse;
  for (std::uint32_t node = 0; node < lists.size(); ++node) {
    const std::set<std::uint32_t> first(lists[node].begin(), lists[node].begin() + kNear);
    EXPECT_FALSE(first.contains(node));
    EXPECT_EQ(first.size(), kNear);  // no node twice
    for (std::size_t rank = 0; rank < kNear; ++rank) reverse[lists[node][rank]].emplace_back(rank, node);
  }
  for (std::uint32_t node = 0; node < lists.size(); ++node) {
    std::vector<std::uint32_t> expected;
    std::ranges::sort(reverse[node]);
    for (const auto& [rank, other] : reverse[node]) {
      if (expected.size() < kNear) expected.push_back(other);
    }
    expected.resize(kNear, kNoNode);
    EXPECT_EQ(std::vector(lists[node].begin() + kNear, lists[node].end()), expected) << node;
  }
}

TEST(NeighborGraph, OneShardFindsTheNearest) {
  const EmbeddedFixture fixture(Nodes(400));
  ASSERT_OK_AND_ASSIGN(
      const ScratchTable table,
      FindNeighbors(fixture.Embedded(), {.neighbors = kNear, .memory_bytes = 1 << 30, .list_bytes = 1 << 30}));
  EXPECT_FALSE(table.in_file());
  const auto lists = ListsOf(table, 400);
  EXPECT_GT(Recall(fixture.naive, lists), 0.99);
  CheckReverse(lists);
}

TEST(NeighborGraph, ShardsFindTheSameForAnyThreadsAndMemory) {
  const EmbeddedFixture fixture(Nodes(2500));
  std::vector<std::vector<std::uint32_t>> expected;
  for (const int threads : {1, 2, 3}) {
    for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{1} << 30}) {
      ASSERT_OK_AND_ASSIGN(const ScratchTable table, WithThreads(threads, [&] {
                             return FindNeighbors(fixture.Embedded(), {.neighbors = kNear,
                                                                       .shard_capacity = 400,
                                                                       .threads = threads,
                                                                       .memory_bytes = memory,
                                                                       .list_bytes = memory,
                                                                       .scratch_folder = fixture.folder().path()});
                           }));
      EXPECT_EQ(table.in_file(), memory == 0);
      const auto lists = ListsOf(table, 2500);
      if (expected.empty()) {
        expected = lists;
        EXPECT_GT(Recall(fixture.naive, lists), 0.9);
        CheckReverse(lists);
      }
      EXPECT_EQ(lists, expected) << threads << " " << memory;
    }
  }
}

TEST(NeighborGraph, FewerNodesThanNeighbours) {
  for (const std::uint64_t nodes : {1U, 2U, 4U}) {
    const EmbeddedFixture fixture(Nodes(nodes));
    ASSERT_OK_AND_ASSIGN(
        const ScratchTable table,
        FindNeighbors(fixture.Embedded(), {.neighbors = kNear, .memory_bytes = 1 << 30, .list_bytes = 1 << 30}));
    for (const auto& list : ListsOf(table, nodes)) {
      for (const std::size_t half : {0U, kNear}) {
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(half);
        EXPECT_EQ(std::count(begin, begin + kNear, kNoNode), static_cast<std::ptrdiff_t>(kNear - nodes + 1));
      }
    }
  }
}

TEST(NeighborGraph, NanIsAnError) {
  EmbeddedFixture fixture(Nodes(50));
  fixture.naive.embeddings[11] = std::nanf("");
  fixture.Write();
  EXPECT_ERROR(FindNeighbors(fixture.Embedded(), {.neighbors = kNear, .memory_bytes = 1 << 30, .list_bytes = 1 << 30}),
               kRuntime, "row 2 (node");
}

}  // namespace
}  // namespace octavo
