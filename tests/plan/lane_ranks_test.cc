#include "plan/lane_ranks.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "plan/lane_plan.h"

namespace octavo {
namespace {

TEST(LaneRanks, EveryLaneIsOfOneRankAndTheSharesDifferByOneAtMost) {
  for (std::uint32_t lanes = 1; lanes <= 64; lanes *= 2) {
    for (std::uint32_t ranks = 1; ranks <= lanes; ++ranks) {
      std::uint32_t next = 0;
      std::uint32_t fewest = lanes;
      std::uint32_t most = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const LaneRange range = LanesOfRank(lanes, ranks, rank);
        EXPECT_EQ(range.first, next);
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
          EXPECT_EQ(range.Has(lane), lane >= range.first && lane < range.end);
          EXPECT_EQ(RankOfLane(lanes, ranks, lane) == rank, range.Has(lane));
        }
        next = range.end;
        fewest = std::min(fewest, range.end - range.first);
        most = std::max(most, range.end - range.first);
      }
      EXPECT_EQ(next, lanes);
      EXPECT_GE(fewest, 1U) << lanes << " lanes, " << ranks << " ranks";
      EXPECT_LE(most - fewest, 1U);
    }
  }
}

TEST(LaneRanks, CountsThatDoNotFitIn32BitsMultiplied) {
  const std::uint32_t many = 1U << 31;
  EXPECT_EQ(LanesOfRank(many, many, many - 1).first, many - 1);
  EXPECT_EQ(LanesOfRank(many, many, many - 1).end, many);
}

// The partitions of a lane are those of all its states in the round.
TEST(LaneRanks, PartitionsHaveTheLaneWhoseStatesHaveThem) {
  EpochPlan plan;
  const auto state = [](std::vector<std::uint32_t> resident) {
    DraftState made;
    for (const std::uint32_t p : resident) made.resident.push_back(static_cast<PartitionId>(p));
    return made;
  };
  plan.states = StatesOf(std::vector{state({0, 1}), state({1, 2}), state({4}), state({0, 4}), state({3})});
  plan.turns = {{.round = 0, .lane = 0, .first_state = 0, .end_state = 2},
                {.round = 0, .lane = 1, .first_state = 2, .end_state = 3},
                {.round = 1, .lane = 0, .first_state = 3, .end_state = 4},
                {.round = 1, .lane = 1, .first_state = 4, .end_state = 5}};
  EXPECT_EQ(LanesOfPartitions(plan, 0, 6), (std::vector<std::uint32_t>{0, 0, 0, kNoLane, 1, kNoLane}));
  EXPECT_EQ(LanesOfPartitions(plan, 1, 6), (std::vector<std::uint32_t>{0, kNoLane, kNoLane, 1, 0, kNoLane}));
  EXPECT_EQ(LanesOfPartitions(plan, 2, 3), std::vector<std::uint32_t>(3, kNoLane));
}

// Of the plans that are made: no partition has two lanes in a round, with what a state keeps for the next one.
TEST(LaneRanks, NoTwoLanesOfARoundHaveOnePartition) {
  for (const PartitionShape shape : {PartitionShape{1, 1}, {3, 2}, {4, 2}}) {
    for (const std::uint32_t lanes : {2U, 4U}) {
      constexpr std::uint32_t kPartitions = 19;
      PartitionEdges edges(kPartitions);
      for (std::uint32_t head = 0; head < kPartitions; ++head) {
        for (std::uint32_t tail = 0; tail < kPartitions; ++tail) edges.at(head, tail) = (head * 7 + tail * 3) % 11;
      }
      LanePlanner planner(edges, lanes, shape, BucketOrder::kBeta, 5, /*hold_all=*/false);
      for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
        const EpochPlan& plan = planner.Plan(epoch);
        for (std::uint32_t round = 0; round < 2 * lanes - 1; ++round) {
          const std::vector<std::uint32_t> found = LanesOfPartitions(plan, round, kPartitions);
          for (const LaneTurn& turn : plan.turns) {
            if (turn.round != round) continue;
            for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
              for (const PartitionId p : plan.states[s].resident) EXPECT_EQ(found[Value(p)], turn.lane);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace octavo
