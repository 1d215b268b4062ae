#include "plan/lane_schedule.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint32_t kLanes[] = {1, 2, 4, 8, 16};

TEST(LaneRounds, EachPairOfGroupsMeetsOnceAndEachGroupIsHeldByOneLane) {
  for (const std::uint32_t lanes : kLanes) {
    for (const std::uint64_t epoch : {0U, 1U}) {
      SCOPED_TRACE(::testing::Message() << lanes << " lanes, epoch " << epoch);
      const std::vector<LaneRound> rounds = MakeLaneRounds(lanes, epoch);
      ASSERT_EQ(rounds.size(), 2 * lanes - 1);
      std::set<std::pair<std::uint32_t, std::uint32_t>> met;
      for (const LaneRound& round : rounds) {
        ASSERT_EQ(round.lanes.size(), lanes);
        std::set<std::uint32_t> held;
        for (const auto& [a, b] : round.lanes) {
          ASSERT_TRUE(held.insert(a).second && held.insert(b).second) << "held twice in a round";
          ASSERT_LT(std::max(a, b), 2 * lanes);
          ASSERT_TRUE(met.insert(std::minmax(a, b)).second) << "met twice: " << a << " " << b;
        }
        EXPECT_EQ(held.size(), 2 * lanes);
      }
      EXPECT_EQ(met.size(), lanes * (2 * lanes - 1));
      EXPECT_EQ(std::ranges::count_if(rounds, &LaneRound::within), 1) << "all groups are held in every round";
    }
  }
}

TEST(LaneRounds, ALanePassesOnOneGroupBetweenRoundsAndNoneBetweenEpochs) {
  for (const std::uint32_t lanes : kLanes) {
    std::vector<LaneRound> rounds = MakeLaneRounds(lanes, 0);
    for (std::size_t r = 1; r < rounds.size(); ++r) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const LanePair& before = rounds[r - 1].lanes[lane];
        const LanePair& after = rounds[r].lanes[lane];
        const auto kept = std::ranges::count_if(
            after, [&](std::uint32_t group) { return std::ranges::find(before, group) != before.end(); });
        EXPECT_EQ(kept, 1) << lanes << " lanes, round " << r << ", lane " << lane;
      }
    }
    std::ranges::reverse(rounds);
    const std::vector<LaneRound> next = MakeLaneRounds(lanes, 1);
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      EXPECT_EQ(next[r].lanes, rounds[r].lanes);
      EXPECT_EQ(next[r].within, rounds[r].within);
    }
    EXPECT_EQ(MakeLaneRounds(lanes, 2)[0].lanes, MakeLaneRounds(lanes, 0)[0].lanes);
  }
}

TEST(LaneGroups, HaveEachPartitionOnceAndNearlyEqualEdges) {
  for (const std::uint32_t lanes : {2U, 4U, 16U}) {
    for (const std::uint32_t fine : {32U, 33U, 64U, 100U, 512U}) {
      SCOPED_TRACE(::testing::Message() << lanes << " lanes, " << fine << " partitions");
      std::vector<std::uint64_t> edges;
      for (std::uint32_t p = 0; p < fine; ++p) edges.push_back(1000 + p * 2654435761U % 500);
      const LaneGroups groups = BalanceLaneGroups(edges, lanes);
      ASSERT_EQ(groups.size(), 2 * lanes);
      std::set<PartitionId> seen;
      std::vector<std::uint64_t> load;
      for (const auto& group : groups) {
        EXPECT_FALSE(group.empty());
        EXPECT_LE(group.size(), LargestLaneGroup(fine, lanes));
        EXPECT_TRUE(std::ranges::is_sorted(group));
        load.push_back(0);
        for (const PartitionId partition : group) {
          EXPECT_TRUE(seen.insert(partition).second);
          load.back() += edges[Value(partition)];
        }
      }
      EXPECT_EQ(seen.size(), fine);
      // A group has no more than the mean and one partition.
      const std::uint64_t all = std::accumulate(edges.begin(), edges.end(), std::uint64_t{0});
      EXPECT_LE(*std::ranges::max_element(load), all / groups.size() + 1500);
    }
  }
}

// The hub's group gets no other partition while others have fewer edges.
TEST(LaneGroups, APartitionWithManyEdgesIsAloneIfThereIsRoom) {
  const std::vector<std::uint64_t> edges = {10, 10, 1000, 10, 10, 10, 10};
  for (const auto& group : BalanceLaneGroups(edges, 2)) {
    if (std::ranges::find(group, PartitionId{2}) == group.end()) continue;
    EXPECT_EQ(group.size(), 1U);
  }
}

TEST(LaneGroups, PartitionsWithoutEdgesLeaveNoGroupEmpty) {
  const std::vector<std::uint64_t> edges = {7, 0, 0, 0, 0};
  for (const auto& group : BalanceLaneGroups(edges, 2)) EXPECT_FALSE(group.empty());
}

// Two lanes, four groups of one partition. Forward: {0, 2} {1, 3} | {0, 3} {1, 2} | {0, 1} {3, 2} with what is within.
TEST(LaneBalance, ComparesTheRoundsSlowestLanes) {
  const TemporaryFolder folder;
  std::vector<Edge> edges;
  const auto add = [&](std::uint64_t head, std::uint64_t tail, int count) {
    for (int i = 0; i < count; ++i) edges.push_back({.head = NodeId{head * 1024 + i}, .tail = NodeId{tail * 1024}});
  };
  add(0, 2, 30);
  add(3, 1, 10);  // round 1: 30 and 10
  add(1, 2, 20);  // round 2: 0 and 20
  add(2, 2, 5);   // round 3: 0 and 5
  WriteSmallCells(folder.path() / "train.cells", {.node_count = 4096}, edges);
  const auto cells = CellReader::Open(folder.path() / "train.cells");
  ASSERT_TRUE(cells.ok());
  const LaneGroups groups = {{PartitionId{0}}, {PartitionId{1}}, {PartitionId{2}}, {PartitionId{3}}};
  EXPECT_DOUBLE_EQ(LaneBalance(*cells, groups), 65.0 / (2 * (30 + 20 + 5)));
}

}  // namespace
}  // namespace octavo
