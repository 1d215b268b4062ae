#include "plan/machine_time.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "plan/lane_plan.h"

namespace octavo {
namespace {

constexpr std::uint32_t kFine = 16;

PartitionEdges Even() {
  PartitionEdges edges(kFine);
  for (std::uint32_t head = 0; head < kFine; ++head) {
    for (std::uint32_t tail = 0; tail < kFine; ++tail) edges.at(head, tail) = 10;
  }
  return edges;
}

MachineWork Work(std::uint64_t partition_bytes, std::uint64_t relation_bytes) {
  return {.bytes_of = [partition_bytes](PartitionId) { return partition_bytes; },
          .edges_of = [](const CellId&) { return 10.0; },
          .relation_bytes = relation_bytes};
}

// Epoch `epoch` of a training with 10 edges in each cell.
EpochTimes Times(const LaneMachines& machines, const MachineSpeed& speed, const MachineWork& work,
                 const PartitionShape& shape = {}, std::uint64_t epoch = 1) {
  LanePlanner planner(Even(), machines.lanes, shape, BucketOrder::kBeta, 3, work.lanes_in_memory);
  MachineTimes times(machines, kFine, speed, work);
  for (std::uint64_t e = 0; e < epoch; ++e) times.Add(planner.Plan(e));
  return times.Add(planner.Plan(epoch));
}

const MachineSpeed kSpeed{.edges = 100, .disk_read = 1e30, .disk_write = 1e30, .network = 1e30};

TEST(MachineTimes, DivideTheWorkIfNothingElseTakesTime) {
  constexpr double kAll = kFine * kFine * 10 / 100.0;
  for (const std::uint32_t machines : {1U, 2U, 4U}) {
    const EpochTimes times = Times({.lanes = 4, .machines = machines}, kSpeed, Work(1, 1));
    EXPECT_NEAR(std::accumulate(times.compute.begin(), times.compute.end(), 0.0), kAll, 1e-9);
    EXPECT_NEAR(times.one_by_one, times.overlapped, 1e-9) << "rounds end together, as there are relations";
    EXPECT_GE(times.overlapped, kAll / machines - 1e-9);
    EXPECT_LT(times.overlapped, kAll / machines * 1.3);
    EXPECT_NEAR(times.exchange, 0, 1e-9);
    if (machines == 1) {
      EXPECT_NEAR(times.waited[0], 0, 1e-9);
    }
  }
}

// Each round of 2 lanes on 2 machines sends a relation copy there and the sum back; the partitions weigh nothing.
TEST(MachineTimes, RelationsAreNeverHidden) {
  MachineSpeed speed = kSpeed;
  speed.network = 10;
  const EpochTimes times = Times({.lanes = 2, .machines = 2}, speed, Work(0, 50));
  EXPECT_NEAR(times.exchange, 3 * (50 + 50) / 10.0, 1e-9);
  EXPECT_NEAR(times.Hidden(), 0, 1e-9);
  EXPECT_NEAR(times.overlapped, times.one_by_one, 1e-9);
}

// A machine with one lane in one state needs all its partitions until the round ends; then they leave beside the
// relations.
TEST(MachineTimes, OneStateARoundHidesNoMoreThanTheRelations) {
  MachineSpeed speed = kSpeed;
  speed.network = 4;
  const LaneMachines machines{.lanes = 4, .machines = 4};
  const EpochTimes times = Times(machines, speed, Work(10, 1));
  EXPECT_LE(times.Hidden(), 7 * (3 + 3) / speed.network + 1e-9);
  EXPECT_GT(times.exchange, 3 * times.Hidden());
}

// Of two lanes one trains while the partitions of the other are on their way.
TEST(MachineTimes, SeveralLanesOfAMachineHideTheExchange) {
  MachineSpeed speed = kSpeed;
  speed.network = 40;
  const EpochTimes times = Times({.lanes = 4, .machines = 2}, speed, Work(10, 0));
  EXPECT_GT(times.Hidden(), 0.2 * times.exchange);
  EXPECT_LT(times.overlapped, times.one_by_one);
  EXPECT_GE(times.overlapped, *std::ranges::max_element(times.compute));
}

TEST(MachineTimes, SmallerPartitionsOfALaneLeaveEarlier) {
  MachineSpeed speed = kSpeed;
  speed.network = 20;
  const LaneMachines machines{.lanes = 2, .machines = 2};
  const EpochTimes whole = Times(machines, speed, Work(10, 1), {1, 1});
  const EpochTimes cut = Times(machines, speed, Work(10, 1), {8, 2});
  EXPECT_NEAR(whole.exchange, cut.exchange, 1e-9);
  EXPECT_LE(whole.Hidden(), 3 * (1 + 1) / speed.network + 1e-9);
  EXPECT_GT(cut.Hidden(), 0.2 * cut.exchange);
}

// Naive: one machine after another, and every partition separately.
TEST(MachineTimes, OneByOneIsTheSumOfRounds) {
  MachineSpeed speed = kSpeed;
  speed.network = 7;
  speed.disk_write = 50;
  const LaneMachines machines{.lanes = 4, .machines = 3};
  constexpr std::uint64_t kRelations = 6;
  double expected = 0;
  LanePlanner planner(Even(), 4, {}, BucketOrder::kBeta, 3, true);
  PartitionPlaces before = PlacesOfRounds(planner.Plan(0), machines, kFine).back();
  const EpochPlan& plan = planner.Plan(1);
  const std::vector<PartitionPlaces> rounds = PlacesOfRounds(plan, machines, kFine);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::vector<double> out(3);
    std::vector<double> in(3);
    std::vector<double> edges(3);
    for (std::size_t p = 0; p < kFine; ++p) {
      if (before[p] == rounds[round][p]) continue;
      out[before[p]] += 10;
      in[rounds[round][p]] += 10;
    }
    for (const LaneTurn& turn : plan.turns) {
      if (turn.round != round) continue;
      for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
        edges[machines.MachineOf(turn.lane)] += 10.0 * static_cast<double>(plan.states[s].cells.size());
      }
    }
    expected += std::max(*std::ranges::max_element(out), *std::ranges::max_element(in)) / 7;
    expected += *std::ranges::max_element(edges) / 100;
    expected += (3 + 2) * kRelations / 7.0;  // of three lanes elsewhere, and to two machines
    before = rounds[round];
  }
  std::vector<double> rows(3);
  for (std::size_t p = 0; p < kFine; ++p) rows[before[p]] += 10;
  expected += *std::ranges::max_element(rows) / 50;
  const EpochTimes times = Times(machines, speed, Work(10, kRelations));
  EXPECT_NEAR(times.one_by_one, expected, 1e-9);
  EXPECT_LE(times.overlapped, times.one_by_one + 1e-9);
  for (std::uint32_t m = 0; m < 3; ++m) EXPECT_NEAR(times.waited[m] + times.compute[m], times.overlapped, 1e-9);
}

TEST(MachineTimes, TheDiskOfLanesThatDoNotFitTakesTime) {
  MachineSpeed speed = kSpeed;
  const LaneMachines machines{.lanes = 2, .machines = 2};
  MachineWork work = Work(10, 1);
  work.lanes_in_memory = false;
  const double free = Times(machines, speed, work, {4, 2}).overlapped;
  speed.disk_read = 0.001;
  const double slow = Times(machines, speed, work, {4, 2}).overlapped;
  work.lanes_in_memory = true;
  EXPECT_GT(slow, free + 2 * kFine * 10 / 0.001 / 2) << "each of two machines reads all its partitions more than once";
  EXPECT_NEAR(Times(machines, speed, work, {4, 2}).overlapped, free, 1e-9);
}

}  // namespace
}  // namespace octavo
