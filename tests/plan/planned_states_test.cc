#include "plan/planned_states.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plan/epoch_plan.h"
#include "tests/support/list_of.h"

namespace octavo {
namespace {

// Copies share the lists with the planner's plan, which the next call replaces.
TEST(PlannedStates, CopiesStayValid) {
  std::vector<std::vector<CellId>> cells;
  PlannedStates states;
  {
    EpochPlanner planner(20, {6, 3}, BucketOrder::kBeta, 9);
    states = planner.Plan(0).states;
    for (std::size_t s = 0; s < states.size(); ++s) cells.push_back(ListOf(states[s].cells));
    planner.Plan(1);
  }
  ASSERT_EQ(states.size(), cells.size());
  const PlannedStates last = states.From(2);
  ASSERT_EQ(last.size(), states.size() - 2);
  for (std::size_t s = 0; s < last.size(); ++s) {
    EXPECT_EQ(ListOf(last[s].cells), cells[s + 2]);
    EXPECT_EQ(ListOf(last[s].resident), ListOf(states[s + 2].resident));
  }
  EXPECT_TRUE(states.From(states.size()).empty());
}

TEST(PlannedStates, KeepsEachList) {
  const auto ids = [](std::vector<std::uint32_t> numbers) {
    std::vector<PartitionId> list;
    for (const std::uint32_t number : numbers) list.push_back(static_cast<PartitionId>(number));
    return list;
  };
  DraftState first, second;
  first.resident = ids({1, 2, 5});
  first.cells = {{PartitionId{1}, PartitionId{2}}, {PartitionId{5}, PartitionId{5}}};
  second = {.leaving = ids({1}),
            .entering = ids({7, 8}),
            .resident = ids({2, 5, 7, 8}),
            .cells = {},
            .negatives = ids({2, 7}),
            .first_group = ids({2, 5}),
            .ahead = false};
  const PlannedStates states = StatesOf(std::vector{first, second});
  ASSERT_EQ(states.size(), 2U);
  for (const auto& [state, draft] : {std::pair(states[0], first), {states[1], second}}) {
    const DraftState copy = CopyOf(state);
    EXPECT_EQ(copy.leaving, draft.leaving);
    EXPECT_EQ(copy.entering, draft.entering);
    EXPECT_EQ(copy.resident, draft.resident);
    EXPECT_EQ(copy.cells, draft.cells);
    EXPECT_EQ(copy.negatives, draft.negatives);
    EXPECT_EQ(copy.first_group, draft.first_group);
    EXPECT_EQ(copy.ahead, draft.ahead);
  }
  EXPECT_EQ(ListOf(states[0].NegativePartitions()), first.resident);
  EXPECT_EQ(ListOf(states[1].NegativePartitions()), second.negatives);
}

}  // namespace
}  // namespace octavo
