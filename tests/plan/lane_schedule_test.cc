#include "plan/lane_schedule.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint32_t kLaneCounts[] = {1, 2, 4, 8, 16};

TEST(LaneRounds, EachPairOfGroupsMeetsOnceAndEachGroupIsHeldByOneLane) {
  for (const std::uint32_t lanes : kLaneCounts) {
    SCOPED_TRACE(lanes);
    const std::vector<LaneRound> rounds = MakeLaneRounds(lanes);
    ASSERT_EQ(rounds.size(), 2 * lanes - 1);
    std::set<std::pair<std::uint32_t, std::uint32_t>> met;
    for (const LaneRound& round : rounds) {
      ASSERT_EQ(round.size(), lanes);
      std::set<std::uint32_t> held;
      for (const auto& [a, b] : round) {
        ASSERT_TRUE(held.insert(a).second && held.insert(b).second) << "held twice in a round";
        ASSERT_LT(std::max(a, b), 2 * lanes);
        ASSERT_TRUE(met.insert(std::minmax(a, b)).second) << "met twice: " << a << " " << b;
      }
      EXPECT_EQ(held.size(), 2 * lanes);
    }
    EXPECT_EQ(met.size(), lanes * (2 * lanes - 1));
  }
}

TEST(LaneRounds, ALanePassesOnOneGroupBetweenRounds) {
  for (const std::uint32_t lanes : kLaneCounts) {
    const std::vector<LaneRound> rounds = MakeLaneRounds(lanes);
    for (std::size_t r = 1; r < rounds.size(); ++r) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const LanePair& before = rounds[r - 1][lane];
        const auto kept = std::ranges::count_if(
            rounds[r][lane], [&](std::uint32_t group) { return std::ranges::find(before, group) != before.end(); });
        EXPECT_EQ(kept, 1) << lanes << " lanes, round " << r << ", lane " << lane;
      }
    }
  }
}

// Edges between all partitions, about `each` in a cell, but `hub` times as many in those of partition 0.
PartitionEdges EdgesWithHub(std::uint32_t fine, std::uint64_t each, std::uint64_t hub = 1) {
  PartitionEdges edges(fine);
  for (std::uint32_t head = 0; head < fine; ++head) {
    for (std::uint32_t tail = 0; tail < fine; ++tail) {
      edges.at(head, tail) = (each + (head * 31 + tail * 17) % 5) * (head == 0 || tail == 0 ? hub : 1);
    }
  }
  return edges;
}

TEST(LaneGroups, HaveEachPartitionOnceInGroupsOfAboutOneSize) {
  for (const std::uint32_t lanes : {2U, 4U, 16U}) {
    for (const std::uint32_t fine : {32U, 33U, 64U, 100U}) {
      SCOPED_TRACE(::testing::Message() << lanes << " lanes, " << fine << " partitions");
      const PartitionEdges edges = EdgesWithHub(fine, 50);
      const LaneGroups groups = DrawLaneGroups(edges, lanes, 1, 0);
      ASSERT_EQ(groups.size(), 2 * lanes);
      std::set<PartitionId> seen;
      for (const auto& group : groups) {
        EXPECT_FALSE(group.empty());
        EXPECT_LE(group.size(), LargestLaneGroup(fine, lanes));
        EXPECT_TRUE(std::ranges::is_sorted(group));
        for (const PartitionId partition : group) EXPECT_TRUE(seen.insert(partition).second);
      }
      EXPECT_EQ(seen.size(), fine);
      // Groups differ by at most a partition, so a lane by two of those that it has.
      const double partitions = static_cast<double>(fine) / (2 * lanes);
      EXPECT_GT(LaneBalance(edges, groups), fine % (2 * lanes) == 0 ? 0.9 : 0.9 * partitions / (partitions + 2));
    }
  }
}

// A partition with many edges is alone in its group if there is room, whatever is drawn.
TEST(LaneGroups, AHubIsAloneIfThereIsRoom) {
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    for (const auto& group : DrawLaneGroups(EdgesWithHub(7, 10, 100), 2, 3, epoch)) {
      if (std::ranges::find(group, PartitionId{0}) == group.end()) continue;
      EXPECT_EQ(group.size(), 1U);
    }
  }
}

TEST(LaneGroups, PartitionsWithoutEdgesLeaveNoGroupEmpty) {
  PartitionEdges edges(5);
  edges.at(0, 0) = 7;
  for (const auto& group : DrawLaneGroups(edges, 2, 1, 0)) EXPECT_FALSE(group.empty());
}

// Over the epochs any two partitions are in one group: an edge meets the negatives of every partition.
TEST(LaneGroups, AreDrawnAnewForEachEpoch) {
  const PartitionEdges edges = EdgesWithHub(16, 20);
  std::set<std::pair<PartitionId, PartitionId>> together;
  for (std::uint64_t epoch = 0; epoch < 300; ++epoch) {
    const LaneGroups groups = DrawLaneGroups(edges, 4, 9, epoch);
    if (epoch % 10 == 0) {
      EXPECT_EQ(groups, DrawLaneGroups(edges, 4, 9, epoch)) << "a function of seed and epoch";
    }
    for (const auto& group : groups) {
      for (const PartitionId a : group) {
        for (const PartitionId b : group) {
          if (a < b) together.insert({a, b});
        }
      }
    }
  }
  EXPECT_EQ(together.size(), 16U * 15 / 2);
  EXPECT_NE(DrawLaneGroups(edges, 4, 9, 0), DrawLaneGroups(edges, 4, 10, 0));
}

TEST(RoundWithin, SpreadsTheCellsOfAGroupEvenlyOverAllRounds) {
  for (const std::uint32_t lanes : {2U, 4U, 8U}) {
    for (const std::uint32_t fine : {2 * lanes, 4 * lanes, 10 * lanes}) {
      SCOPED_TRACE(::testing::Message() << lanes << " lanes, " << fine << " partitions");
      const LaneGroups groups = DrawLaneGroups(EdgesWithHub(fine, 50), lanes, 1, 0);
      std::vector<std::uint32_t> of_round(2 * lanes - 1);
      for (std::uint32_t g = 0; g < groups.size(); ++g) {
        std::vector<std::uint32_t> own(of_round.size());
        std::set<std::pair<PartitionId, std::uint32_t>> of_heads, of_tails;  // the rounds of each partition
        for (const PartitionId head : groups[g]) {
          for (const PartitionId tail : groups[g]) {
            const std::uint32_t round = RoundWithin(groups[g], lanes, head, tail);
            ASSERT_LT(round, of_round.size());
            ++own[round];
            of_heads.emplace(head, round);
            of_tails.emplace(tail, round);
            ++of_round[round];
          }
        }
        EXPECT_LE(std::ranges::max(own) - std::ranges::min(own), 1U);
        // As many as possible.
        const std::size_t rounds = groups[g].size() * std::min(groups[g].size(), of_round.size());
        EXPECT_EQ(of_heads.size(), rounds);
        EXPECT_EQ(of_tails.size(), rounds);
      }
      // Groups are of one size here: all lanes have the same work.
      for (const std::uint32_t cells : of_round) EXPECT_EQ(cells % (2 * lanes), 0U);
    }
  }
}

// Two lanes, four groups of one partition: {0, 2} {1, 3} | {0, 3} {1, 2} | {0, 1} {3, 2}, and the cell within group g
// in round g modulo 3.
TEST(LaneBalance, ComparesTheRoundsSlowestLanes) {
  const TemporaryFolder folder;
  std::vector<Edge> edges;
  const auto add = [&](std::uint64_t head, std::uint64_t tail, int count) {
    for (int i = 0; i < count; ++i) edges.push_back({.head = NodeId{head * 1024 + i}, .tail = NodeId{tail * 1024}});
  };
  add(0, 2, 30);
  add(3, 1, 10);
  add(1, 2, 20);  // round 2: 0 and 20
  add(2, 2, 5);
  add(3, 3, 4);  // round 1: 35 and 14
  WriteSmallCells(folder.path() / "train.cells", {.node_count = 4096}, edges);
  const auto cells = CellReader::Open(folder.path() / "train.cells");
  ASSERT_TRUE(cells.ok());
  const LaneGroups groups = {{PartitionId{0}}, {PartitionId{1}}, {PartitionId{2}}, {PartitionId{3}}};
  EXPECT_DOUBLE_EQ(LaneBalance(PartitionEdges(*cells), groups), 69.0 / (2 * (35 + 20)));
}

}  // namespace
}  // namespace octavo
