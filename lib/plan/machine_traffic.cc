#include "plan/machine_traffic.h"

#include <cstddef>

namespace octavo {

// A lane's partitions follow from its cells, as every two partitions of its two groups make one.
std::vector<PartitionPlaces> PlacesOfRounds(const EpochPlan& plan, const LaneMachines& machines,
                                            std::uint32_t partitions) {
  std::vector<PartitionPlaces> rounds;
  for (const LaneTurn& turn : plan.turns) {
    if (rounds.size() <= turn.round) rounds.resize(turn.round + std::size_t{1}, PartitionPlaces(partitions));
    PartitionPlaces& places = rounds[turn.round];
    const std::uint32_t machine = machines.MachineOf(turn.lane);
    for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
      for (const CellId& cell : plan.states[s].cells) {
        places[Value(cell.head)] = machine;
        places[Value(cell.tail)] = machine;
      }
    }
  }
  return rounds;
}

std::vector<PartitionMove> MovesBetween(const PartitionPlaces& before, const PartitionPlaces& after) {
  std::vector<PartitionMove> moves;
  for (std::size_t p = 0; p < before.size(); ++p) {
    if (before[p] == after[p]) continue;
    moves.push_back({.partition = static_cast<PartitionId>(p), .from = before[p], .to = after[p]});
  }
  return moves;
}

MachineBytes& MachineBytes::operator+=(const MachineBytes& other) {
  partitions_sent += other.partitions_sent;
  partitions_received += other.partitions_received;
  relations_sent += other.relations_sent;
  relations_received += other.relations_received;
  return *this;
}

std::vector<MachineBytes> BytesOfMachines(const std::vector<PartitionPlaces>& rounds, const PartitionPlaces& before,
                                          const LaneMachines& machines,
                                          const std::function<std::uint64_t(PartitionId)>& bytes_of,
                                          std::uint64_t relation_bytes) {
  std::vector<MachineBytes> bytes(machines.machines);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    for (const PartitionMove& move : MovesBetween(round == 0 ? before : rounds[round - 1], rounds[round])) {
      bytes[move.from].partitions_sent += bytes_of(move.partition);
      bytes[move.to].partitions_received += bytes_of(move.partition);
    }
    for (std::uint32_t m = 1; m < machines.machines; ++m) {
      const std::uint64_t gathered = machines.LanesOf(m) * relation_bytes;
      bytes[m].relations_sent += gathered;
      bytes[0].relations_received += gathered;
      bytes[0].relations_sent += relation_bytes;
      bytes[m].relations_received += relation_bytes;
    }
  }
  return bytes;
}

}  // namespace octavo
