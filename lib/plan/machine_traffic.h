// What machines that share the lanes of a training send each other (plan/lane_schedule.h).
//
// A machine has the lanes of its rank (plan/lane_ranks.h). A partition moves when its next lane is on another machine:
// its rows of embeddings and optimizer state go from one to the other. At the end of each round every lane's relations
// go to machine 0, which sends all others what they make together.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/ids.h"
#include "plan/epoch_plan.h"
#include "plan/lane_ranks.h"

namespace octavo {

// The lanes and the machines that have them. REQUIRES: 1 <= machines <= lanes
struct LaneMachines {
  std::uint32_t lanes = 1;
  std::uint32_t machines = 1;

  std::uint32_t MachineOf(std::uint32_t lane) const { return RankOfLane(lanes, machines, lane); }
  // The number of lanes of a machine.
  std::uint32_t LanesOf(std::uint32_t machine) const {
    const LaneRange range = LanesOfRank(lanes, machines, machine);
    return range.end - range.first;
  }
};

// The machine that has each fine partition during a round: [partitions].
using PartitionPlaces = std::vector<std::uint32_t>;

// Returns the places in each round of an epoch. REQUIRES: a plan of lanes, in which each partition has a lane in each
// round
std::vector<PartitionPlaces> PlacesOfRounds(const EpochPlan& plan, const LaneMachines& machines,
                                            std::uint32_t partitions);

struct PartitionMove {
  PartitionId partition{};
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  friend auto operator<=>(const PartitionMove&, const PartitionMove&) = default;
};

// Returns what moves between two rounds, in the order of partitions. Nothing does if `before` is empty: a machine makes
// the first rows of its partitions itself.
std::vector<PartitionMove> MovesBetween(const PartitionPlaces& before, const PartitionPlaces& after);

struct MachineBytes {
  std::uint64_t partitions_sent = 0;
  std::uint64_t partitions_received = 0;
  std::uint64_t relations_sent = 0;
  std::uint64_t relations_received = 0;

  std::uint64_t Sent() const { return partitions_sent + relations_sent; }
  std::uint64_t Received() const { return partitions_received + relations_received; }
  MachineBytes& operator+=(const MachineBytes& other);
  friend bool operator==(const MachineBytes&, const MachineBytes&) = default;
};

// Returns the bytes of each machine in an epoch: those that bring the partitions to their places in its first round,
// and those of all its rounds. `before` are the places in the last round of the epoch before, empty for the first
// epoch. `bytes_of` returns the size of a partition; the relations of a lane have `relation_bytes` with their optimizer
// state.
std::vector<MachineBytes> BytesOfMachines(const std::vector<PartitionPlaces>& rounds, const PartitionPlaces& before,
                                          const LaneMachines& machines,
                                          const std::function<std::uint64_t(PartitionId)>& bytes_of,
                                          std::uint64_t relation_bytes);

}  // namespace octavo
