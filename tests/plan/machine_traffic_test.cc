#include "plan/machine_traffic.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plan/lane_plan.h"
#include "tests/plan/uneven_edges.h"

namespace octavo {
namespace {

std::uint64_t BytesOf(PartitionId p) { return 1000 + 7 * std::uint64_t{Value(p)}; }

TEST(LaneMachines, HaveNeighbouringLanesInNearlyEqualNumbers) {
  const LaneMachines three{.lanes = 4, .machines = 3};
  EXPECT_EQ(three.MachineOf(0), 0U);
  EXPECT_EQ(three.MachineOf(1), 1U);
  EXPECT_EQ(three.MachineOf(2), 2U);
  EXPECT_EQ(three.MachineOf(3), 2U);
  for (const std::uint32_t lanes : {1U, 2U, 8U, 256U}) {
    for (std::uint32_t machines = 1; machines <= lanes; machines = machines * 3 / 2 + 1) {
      const LaneMachines all{.lanes = lanes, .machines = machines};
      std::uint32_t sum = 0;
      for (std::uint32_t m = 0; m < machines; ++m) {
        EXPECT_GE(all.LanesOf(m), lanes / machines);
        EXPECT_LE(all.LanesOf(m), (lanes + machines - 1) / machines);
        sum += all.LanesOf(m);
      }
      EXPECT_EQ(sum, lanes);
    }
  }
}

// The machine whose lanes begin at floor(m * lanes / machines).
std::uint32_t MachineOf(std::uint32_t lanes, std::uint32_t machines, std::uint32_t lane) {
  return ((lane + 1) * machines - 1) / lanes;
}

// Machines as sets of partitions and of messages, which know nothing but the rounds of lanes and their groups.
class Fleet {
 public:
  Fleet(std::uint32_t lanes, std::uint32_t machines, std::uint64_t relation_bytes)
      : lanes_(lanes), machines_(machines), relation_bytes_(relation_bytes), has_(machines), sums_(machines) {}

  std::vector<MachineBytes> Epoch(const LaneGroups& groups) {
    sums_.assign(machines_, {});
    for (const LaneRound& round : MakeLaneRounds(lanes_)) Round(round, groups);
    return sums_;
  }

 private:
  void Round(const LaneRound& round, const LaneGroups& groups) {
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      for (const std::uint32_t group : round[lane]) {
        for (const PartitionId p : groups[group]) Fetch(p, MachineOf(lanes_, machines_, lane));
      }
    }
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) Relations(MachineOf(lanes_, machines_, lane), 0);
    for (std::uint32_t m = 0; m < machines_; ++m) Relations(0, m);
  }
  void Fetch(PartitionId p, std::uint32_t to) {
    for (std::uint32_t from = 0; from < machines_; ++from) {
      if (from == to || has_[from].erase(p) == 0) continue;
      sums_[from].partitions_sent += BytesOf(p);
      sums_[to].partitions_received += BytesOf(p);
    }
    has_[to].insert(p);
  }
  void Relations(std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    sums_[from].relations_sent += relation_bytes_;
    sums_[to].relations_received += relation_bytes_;
  }

  const std::uint32_t lanes_;
  const std::uint32_t machines_;
  const std::uint64_t relation_bytes_;
  std::vector<std::set<PartitionId>> has_;
  std::vector<MachineBytes> sums_;
};

TEST(MachineTraffic, IsThatOfMachinesThatFetchTheirPartitions) {
  for (const std::uint32_t lanes : {2U, 4U, 8U}) {
    for (std::uint32_t machines = 1; machines <= lanes; ++machines) {
      for (const std::uint32_t fine : {16U, 21U, 64U}) {
        for (const bool hold_all : {false, true}) {
          const LaneMachines all{.lanes = lanes, .machines = machines};
          const PartitionEdges edges = UnevenEdges(fine);
          LanePlanner planner(edges, lanes, fine == 64 ? PartitionShape{4, 2} : PartitionShape{}, BucketOrder::kBeta, 5,
                              hold_all);
          Fleet fleet(lanes, machines, 300);
          PartitionPlaces before;
          for (std::uint64_t epoch = 0; epoch < (hold_all ? 1 : 3); ++epoch) {
            SCOPED_TRACE(::testing::Message() << lanes << " lanes, " << machines << " machines, " << fine);
            const std::vector<PartitionPlaces> rounds = PlacesOfRounds(planner.Plan(epoch), all, fine);
            EXPECT_EQ(BytesOfMachines(rounds, before, all, BytesOf, 300),
                      fleet.Epoch(DrawLaneGroups(edges, lanes, 5, epoch)));
            before = rounds.back();
          }
        }
      }
    }
  }
}

// Between two of the L rounds in which half of the groups rotate, every lane passes on one group: 1 / (2 L) of all.
TEST(MachineTraffic, OfAsManyMachinesAsLanesIsAGroupEachRound) {
  constexpr std::uint32_t kLanes = 8;
  const LaneMachines all{.lanes = kLanes, .machines = kLanes};
  LanePlanner planner(UnevenEdges(16), kLanes, {}, BucketOrder::kBeta, 1, true);
  const auto one = [](PartitionId) { return std::uint64_t{1}; };
  const std::vector<MachineBytes> bytes = BytesOfMachines(PlacesOfRounds(planner.Plan(0), all, 16), {}, all, one, 0);
  for (const MachineBytes& of_one : bytes) {
    EXPECT_EQ(of_one.Sent(), 2 * kLanes - 2);
    EXPECT_EQ(of_one.Received(), 2 * kLanes - 2);
  }
}

}  // namespace
}  // namespace octavo
