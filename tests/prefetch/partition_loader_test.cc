#include "prefetch/partition_loader.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "base/status.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/list_of.h"

namespace octavo {
namespace {

// Memory as a set. Moves happen on two threads, never at once: an overlap is a failure.
class Memory {
 public:
  PartitionLoader::Move Load() {
    return [this](PartitionId partition) -> absl::Status {
      const Turn turn(*this);
      if (failing_ == partition) return RuntimeError("no such luck");
      EXPECT_TRUE(held_.insert(partition).second) << "loaded twice";
      ++loads_;
      most_ = std::max(most_, held_.size());
      return absl::OkStatus();
    };
  }
  PartitionLoader::Move Evict() {
    return [this](PartitionId partition) -> absl::Status {
      const Turn turn(*this);
      EXPECT_EQ(held_.erase(partition), 1U) << "was not in memory";
      return absl::OkStatus();
    };
  }
  bool Holds(std::span<const PartitionId> partitions) const { return std::ranges::includes(held_, partitions); }
  const std::set<PartitionId>& held() const { return held_; }
  std::size_t most() const { return most_; }
  std::uint64_t loads() const { return loads_; }
  void FailOn(PartitionId partition) { failing_ = partition; }

 private:
  struct Turn {
    explicit Turn(Memory& m) : memory(m) { EXPECT_FALSE(memory.busy_.exchange(true)) << "two moves at once"; }
    ~Turn() { memory.busy_ = false; }
    Memory& memory;
  };
  std::set<PartitionId> held_;
  std::size_t most_ = 0;
  std::uint64_t loads_ = 0;
  std::atomic<bool> busy_ = false;
  std::atomic<PartitionId> failing_ = static_cast<PartitionId>(~0U);
};

void RunEpoch(PartitionLoader& loader, const EpochPlan& plan, std::size_t from, const Memory& memory) {
  ASSERT_OK(loader.Begin(plan, from));
  for (std::size_t s = from;; ++s) {
    ASSERT_OK(loader.Wait());
    ASSERT_TRUE(memory.Holds(plan.states[s].resident));
    if (s + 1 == plan.states.size()) break;
    ASSERT_OK(loader.Advance());
  }
}

TEST(PartitionLoader, KeepsTheStatesPartitionsAndAtMostOneMore) {
  for (const bool ahead : {false, true}) {
    for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
      EpochPlanner planner(12, {12, 4}, order, 3, /*first_epoch=*/0, ahead);
      Memory memory;
      PartitionLoader loader(memory.Load(), memory.Evict());
      std::uint64_t exchanges = 0;
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        RunEpoch(loader, planner.Plan(epoch), 0, memory);
        exchanges += planner.Plan(epoch).exchanges;
      }
      EXPECT_EQ(memory.loads(), 4 + exchanges) << "an epoch begins with what the last one left";
      EXPECT_EQ(memory.most(), ahead ? 5U : 4U);
    }
  }
}

// If the exchange that Begin starts was fast, the epoch was once reported as started with empty memory.
TEST(PartitionLoader, KnowsWhatItBeganWith) {
  EpochPlanner planner(12, {12, 4}, BucketOrder::kBeta, 3);
  Memory memory;
  PartitionLoader loader(memory.Load(), memory.Evict());
  RunEpoch(loader, planner.Plan(0), 0, memory);
  EXPECT_EQ(loader.first_loads(), ListOf(planner.Plan(0).states[0].resident));
  ASSERT_OK(loader.Begin(planner.Plan(1), 0));
  ASSERT_OK(loader.Wait());
  EXPECT_TRUE(loader.first_loads().empty());
}

TEST(PartitionLoader, BeginsInTheMiddleOfAnEpoch) {
  EpochPlanner planner(10, {5, 2}, BucketOrder::kBeta, 3);
  const EpochPlan plan = planner.Plan(0);
  for (std::size_t from = 0; from < plan.states.size(); ++from) {
    Memory memory;
    PartitionLoader loader(memory.Load(), memory.Evict());
    RunEpoch(loader, plan, from, memory);
    EXPECT_EQ(memory.loads(), 2 * (2 + plan.states.size() - 1 - from)) << "groups of two";
  }
}

// Without room for a partition that comes in ahead there is none for one that stays, either.
TEST(PartitionLoader, AnotherDivisionGivesBackAtOnceIfNothingEntersAhead) {
  Memory memory;
  PartitionLoader loader(memory.Load(), memory.Evict());
  EpochPlanner whole(12, {1, 1}, BucketOrder::kBeta, 3);
  RunEpoch(loader, whole.Plan(0), 0, memory);
  EpochPlanner divided(12, {12, 2}, BucketOrder::kBeta, 4, /*first_epoch=*/1, /*ahead=*/false);
  ASSERT_OK(loader.Begin(divided.Plan(1), 0));
  EXPECT_TRUE(loader.first_loads().empty());
  EXPECT_EQ(memory.held().size(), 2U);
}

TEST(PartitionLoader, AnotherDivisionGivesBackWhatItDoesNotWant) {
  Memory memory;
  PartitionLoader loader(memory.Load(), memory.Evict());
  EpochPlanner first(12, {12, 6}, BucketOrder::kBeta, 3);
  RunEpoch(loader, first.Plan(0), 0, memory);
  EpochPlanner second(12, {12, 2}, BucketOrder::kBeta, 4, 1);
  const EpochPlan& plan = second.Plan(1);
  ASSERT_OK(loader.Begin(plan, 0));
  ASSERT_OK(loader.Wait());
  ASSERT_OK(loader.Advance());
  ASSERT_OK(loader.Wait());
  EXPECT_LE(memory.held().size(), 3U);
  EpochPlanner whole(12, {1, 1}, BucketOrder::kBeta, 4, 2);
  RunEpoch(loader, whole.Plan(2), 0, memory);
  EXPECT_EQ(memory.held().size(), 12U);
}

TEST(PartitionLoader, AnErrorSurfacesWhereItsPartitionsAreWanted) {
  for (const bool ahead : {false, true}) {
    EpochPlanner planner(6, {6, 2}, BucketOrder::kBeta, 3, /*first_epoch=*/0, ahead);
    const EpochPlan& plan = planner.Plan(0);
    Memory memory;
    PartitionLoader loader(memory.Load(), memory.Evict());
    memory.FailOn(plan.states[2].entering[0]);
    ASSERT_OK(loader.Begin(plan, 0));
    ASSERT_OK(loader.Advance());
    EXPECT_EQ(loader.Wait().ok(), !ahead);
    ASSERT_TRUE(memory.Holds(plan.states[1].resident));
    EXPECT_ERROR(loader.Advance(), kRuntime, "no such luck");
    if (!ahead) continue;  // what leaves has left
    ASSERT_TRUE(memory.Holds(plan.states[1].resident)) << "the state stays";
  }
}

TEST(PartitionLoader, DestructionDuringALoadIsClean) {
  EpochPlanner planner(6, {6, 2}, BucketOrder::kBeta, 3);
  for (int i = 0; i < 20; ++i) {
    Memory memory;
    PartitionLoader loader(memory.Load(), memory.Evict());
    ASSERT_OK(loader.Begin(planner.Plan(0), 0));
  }
}

}  // namespace
}  // namespace octavo
