#include "plan/lane_plan.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/plan/uneven_edges.h"
#include "tests/support/list_of.h"

namespace octavo {
namespace {

std::set<PartitionId> SetOf(std::span<const PartitionId> partitions) { return {partitions.begin(), partitions.end()}; }

// Follows a plan with sets: every cell once, with both its partitions in memory; a lane touches only its two groups.
void CheckPlan(const EpochPlan& plan, const LaneGroups& groups, std::uint32_t fine, const PartitionShape& shape,
               bool hold_all) {
  const auto lanes = static_cast<std::uint32_t>(groups.size() / 2);
  const std::vector<LaneRound> rounds = MakeLaneRounds(lanes);
  ASSERT_EQ(plan.turns.size(), rounds.size() * lanes);
  std::set<CellId> trained;
  std::set<PartitionId> memory;
  std::size_t next = 0;
  std::uint64_t exchanges = 0;
  for (std::size_t t = 0; t < plan.turns.size(); ++t) {
    const LaneTurn& turn = plan.turns[t];
    ASSERT_EQ(turn.round, t / lanes);
    ASSERT_EQ(turn.lane, t % lanes);
    ASSERT_EQ(turn.first_state, next);
    ASSERT_GT(turn.end_state, next);
    next = turn.end_state;
    const auto& [a, b] = rounds[turn.round][turn.lane];
    std::set<PartitionId> held = SetOf(groups[a]);
    held.insert(groups[b].begin(), groups[b].end());
    for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
      const PlannedState state = plan.states[s];
      if (s == 0) memory = SetOf(state.resident);
      for (const PartitionId p : state.leaving) ASSERT_EQ(memory.erase(p), 1U);
      for (const PartitionId p : state.entering) ASSERT_TRUE(memory.insert(p).second);
      ASSERT_TRUE(std::ranges::equal(memory, state.resident));
      exchanges += s > 0 && !state.entering.empty() ? 1 : 0;
      ASSERT_EQ(state.resident.size() == fine, hold_all);
      ASSERT_TRUE(state.ahead || !hold_all);
      const std::size_t largest = LargestPartition(LargestLane(fine, lanes), shape.partitions);
      // The state's and one on its way in or out.
      const std::size_t in_flight = s > turn.first_state && state.ahead ? state.entering.size() : 0;
      ASSERT_TRUE(hold_all ||
                  (s > 0 ? plan.states[s - 1].resident.size() : 0) + in_flight <= (shape.resident + 1) * largest);
      ASSERT_TRUE(hold_all || state.resident.size() <= (shape.resident + (shape.partitions > 1 ? 1 : 0)) * largest);
      ASSERT_LE(state.NegativePartitions().size(),
                std::size_t{shape.resident} * LargestPartition(LargestLane(fine, lanes), shape.partitions));
      for (const PartitionId p : state.NegativePartitions()) ASSERT_TRUE(held.contains(p)) << "of another lane";
      const std::set<PartitionId> usable = SetOf(state.NegativePartitions());
      ASSERT_FALSE(state.cells.empty());
      ASSERT_EQ(ListOf(state.first_group), groups[a]);
      ASSERT_TRUE(std::ranges::is_sorted(state.cells));
      for (const CellId& cell : state.cells) {
        ASSERT_TRUE(usable.contains(cell.head) && usable.contains(cell.tail));
        ASSERT_TRUE(trained.insert(cell).second) << "twice";
      }
    }
    if (!hold_all && t > 0) {
      EXPECT_FALSE(plan.states[turn.first_state].ahead) << "memory is for one lane";
    }
  }
  EXPECT_EQ(next, plan.states.size());
  EXPECT_EQ(trained.size(), std::size_t{fine} * fine);
  EXPECT_EQ(plan.exchanges, exchanges);
}

TEST(LanePlan, TrainsEachCellOnceAndLanesShareNoPartition) {
  for (const std::uint32_t lanes : {2U, 4U, 8U}) {
    for (const std::uint32_t fine : {16U, 17U, 64U}) {
      for (const PartitionShape shape : {PartitionShape{1, 1}, {3, 2}, {4, 2}, {4, 3}}) {
        if (shape.partitions > LargestLane(fine, lanes)) continue;
        for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
          for (const bool hold_all : {false, true}) {
            SCOPED_TRACE(::testing::Message() << lanes << " lanes, " << fine << ": " << shape.partitions);
            const PartitionEdges edges = UnevenEdges(fine);
            LanePlanner planner(edges, lanes, shape, order, 3, hold_all);
            // Groups take the time to draw, and do not depend on order and memory.
            const std::uint64_t epochs = order == BucketOrder::kBeta && !hold_all ? 3 : 1;
            for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
              CheckPlan(planner.Plan(epoch), DrawLaneGroups(edges, lanes, 3, epoch), fine, shape, hold_all);
            }
          }
        }
      }
    }
  }
}

// If nothing may come in ahead, memory has the partitions of one state at a time, and the same is trained.
TEST(LanePlan, NothingEntersAheadIfItMayNot) {
  LanePlanner ahead(UnevenEdges(20), 2, {4, 2}, BucketOrder::kBeta, 9, false);
  LanePlanner after(UnevenEdges(20), 2, {4, 2}, BucketOrder::kBeta, 9, false, /*ahead=*/false);
  const EpochPlan plan = ahead.Plan(1);
  const EpochPlan& other = after.Plan(1);
  ASSERT_EQ(plan.states.size(), other.states.size());
  bool any = false;
  for (std::size_t s = 0; s < plan.states.size(); ++s) {
    any = any || plan.states[s].ahead;
    EXPECT_TRUE(s == 0 || !other.states[s].ahead);
    EXPECT_EQ(ListOf(plan.states[s].cells), ListOf(other.states[s].cells));
    EXPECT_EQ(ListOf(plan.states[s].NegativePartitions()), ListOf(other.states[s].NegativePartitions()));
    EXPECT_LE(other.states[s].resident.size(), 2 * LargestPartition(LargestLane(20, 2), 4));
  }
  EXPECT_TRUE(any);
}

// What is in memory besides has no part in what is trained.
TEST(LanePlan, HoldingAllTablesChangesNothingElse) {
  LanePlanner lean(UnevenEdges(20), 2, {4, 2}, BucketOrder::kBeta, 9, false);
  LanePlanner ample(UnevenEdges(20), 2, {4, 2}, BucketOrder::kBeta, 9, true);
  const EpochPlan few = lean.Plan(1);
  const EpochPlan& all = ample.Plan(1);
  ASSERT_EQ(few.states.size(), all.states.size());
  for (std::size_t s = 0; s < few.states.size(); ++s) {
    EXPECT_EQ(ListOf(few.states[s].cells), ListOf(all.states[s].cells));
    EXPECT_EQ(ListOf(few.states[s].NegativePartitions()), ListOf(all.states[s].NegativePartitions()));
    EXPECT_TRUE(all.states[s].entering.empty());
  }
  EXPECT_EQ(all.exchanges, 0U);
  const std::vector<CellId> before = ListOf(lean.Plan(5).states[3].cells);
  EXPECT_EQ(ListOf(lean.Plan(1).states[3].cells), ListOf(few.states[3].cells)) << "a function of the epoch";
  EXPECT_EQ(ListOf(lean.Plan(5).states[3].cells), before);
}

}  // namespace
}  // namespace octavo
