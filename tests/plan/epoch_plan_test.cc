#include "plan/epoch_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/list_of.h"

namespace octavo {
namespace {

// Follows a plan with sets. `memory` is what is resident, before (empty if unknown) and after.
void CheckPlan(const EpochPlan& plan, std::uint32_t fine, const PartitionShape& shape, std::set<PartitionId>& memory) {
  const std::size_t least = fine / shape.partitions;
  std::set<CellId> trained;
  for (std::size_t s = 0; s < plan.states.size(); ++s) {
    const PlannedState state = plan.states[s];
    ASSERT_EQ(state.leaving.empty() && state.entering.empty(), s == 0);
    if (s == 0) {
      const std::set<PartitionId> first(state.resident.begin(), state.resident.end());
      EXPECT_TRUE(memory.empty() || memory == first) << "starts with what is in memory";
      memory = first;
    }
    for (const PartitionId p : state.leaving) ASSERT_EQ(memory.erase(p), 1U);
    for (const PartitionId p : state.entering) ASSERT_TRUE(memory.insert(p).second);
    ASSERT_TRUE(std::ranges::equal(memory, state.resident));
    ASSERT_GE(state.resident.size(), shape.resident * least);
    ASSERT_LE(state.resident.size(), shape.resident * LargestPartition(fine, shape.partitions));
    ASSERT_TRUE(std::ranges::is_sorted(state.cells));
    for (const CellId& cell : state.cells) {
      ASSERT_TRUE(memory.contains(cell.head) && memory.contains(cell.tail));
      ASSERT_TRUE(trained.insert(cell).second);
    }
  }
  EXPECT_EQ(trained.size(), std::size_t{fine} * fine);
  EXPECT_EQ(plan.exchanges, plan.states.size() - 1);
}

TEST(EpochPlan, TrainsEachCellOnceAndGoesOnWithWhatIsInMemory) {
  for (const std::uint32_t fine : {1U, 2U, 5U, 15U, 20U, 62U}) {
    for (const PartitionShape shape :
         {PartitionShape{1, 1}, {2, 2}, {3, 2}, {5, 2}, {5, 4}, {8, 4}, {15, 3}, {20, 6}, {31, 5}, {62, 11}}) {
      if (shape.partitions > fine) continue;
      for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
        SCOPED_TRACE(::testing::Message() << fine << ": " << shape.partitions << " " << shape.resident);
        EpochPlanner planner(fine, shape, order, 3);
        std::set<PartitionId> memory;
        for (std::uint64_t epoch = 0; epoch < 4; ++epoch) CheckPlan(planner.Plan(epoch), fine, shape, memory);
      }
    }
  }
}

TEST(EpochPlan, IsAPureFunctionOfTheEpoch) {
  const auto cells = [](const EpochPlan& plan) {
    std::vector<std::vector<CellId>> of_states;
    for (std::size_t s = 0; s < plan.states.size(); ++s) of_states.push_back(ListOf(plan.states[s].cells));
    return of_states;
  };
  EpochPlanner in_order(20, {6, 3}, BucketOrder::kBeta, 9);
  std::vector<std::vector<std::vector<CellId>>> plans;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) plans.push_back(cells(in_order.Plan(epoch)));
  EpochPlanner jumping(20, {6, 3}, BucketOrder::kBeta, 9);
  for (const std::uint64_t epoch : {3U, 3U, 1U, 4U, 0U}) EXPECT_EQ(cells(jumping.Plan(epoch)), plans[epoch]) << epoch;
  for (std::uint64_t epoch = 1; epoch < 5; ++epoch) EXPECT_NE(plans[epoch], plans[0]);
  EXPECT_NE(cells(EpochPlanner(20, {6, 3}, BucketOrder::kBeta, 10).Plan(0)), plans[0]) << "another seed";
}

TEST(EpochPlan, BeginsAtAnyEpoch) {
  EpochPlanner planner(20, {6, 3}, BucketOrder::kBeta, 9, 7);
  std::set<PartitionId> memory;
  for (std::uint64_t epoch = 7; epoch < 10; ++epoch) CheckPlan(planner.Plan(epoch), 20, {6, 3}, memory);
}

// Groups change between epochs: within a few epochs any two fine partitions have shared one.
TEST(EpochPlan, GroupsAreDrawnAnew) {
  EpochPlanner planner(12, {4, 2}, BucketOrder::kBeta, 1);
  std::set<std::vector<PartitionId>> groups;
  for (std::uint64_t epoch = 0; epoch < 6; ++epoch) {
    const PlannedStates states = planner.Plan(epoch).states;
    for (std::size_t s = 0; s < states.size(); ++s) {
      if (!states[s].entering.empty()) groups.insert(ListOf(states[s].entering));
    }
  }
  EXPECT_GT(groups.size(), 12U);
}

TEST(PlannedTraffic, CountsWhatMoves) {
  EpochPlanner planner(5, {5, 2}, BucketOrder::kBeta, 1);
  const EpochPlan& plan = planner.Plan(0);
  const auto bytes_of = [](PartitionId) { return std::uint64_t{100}; };
  const std::uint64_t exchanges = BetaExchanges(5, 2);
  EXPECT_EQ(PlannedTraffic(plan, bytes_of, 0, plan.states[0].resident).read, 100 * (2 + exchanges));
  EXPECT_EQ(PlannedTraffic(plan, bytes_of, 0, {}).read, 100 * exchanges);
  EXPECT_EQ(PlannedTraffic(plan, bytes_of, 0, {}).written, 100 * (2 + exchanges))
      << "plus the resident ones at the end";
  EXPECT_EQ(PlannedTraffic(plan, bytes_of, plan.states.size() - 1, plan.states.back().resident).read, 200U);
  EXPECT_EQ(PlannedTraffic(plan, bytes_of, plan.states.size() - 1, plan.states.back().resident).written, 200U);
}

}  // namespace
}  // namespace octavo
