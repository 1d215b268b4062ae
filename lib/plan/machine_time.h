// How long machines that share the lanes of a training take for an epoch, and how much of what they exchange is hidden
// hidden, as they train meanwhile.
//
// A machine trains its lanes in their order. It sends a partition when the round has done with it, one at a time, and
// receives one at a time; at the same time it trains what it has. A state begins when its partitions have arrived. If
// there are relations, no machine begins a round before all have ended the one before and the relations have been
// gathered and sent. An epoch ends with a commit of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/ids.h"
#include "plan/epoch_plan.h"
#include "plan/machine_traffic.h"

namespace octavo {

// Edges and bytes per second of each machine. REQUIRES: all are above 0
struct MachineSpeed {
  double edges = 0;
  double disk_read = 0;
  double disk_write = 0;
  double network = 0;  // in each direction at the same time
};

// What is trained and moved.
struct MachineWork {
  std::function<std::uint64_t(PartitionId)> bytes_of;  // a partition in all tables
  std::function<double(const CellId&)> edges_of;
  std::uint64_t relation_bytes = 0;  // of a lane, with optimizer state
  bool lanes_in_memory = true;       // all lanes of a machine; otherwise the partitions of its states come from disk
};

// Seconds of an epoch.
struct EpochTimes {
  double overlapped = 0;        // the exchange while machines train
  double one_by_one = 0;        // each round after the exchange before it
  double exchange = 0;          // of these, what the exchange takes
  std::vector<double> compute;  // of each machine, with the disk
  std::vector<double> waited;   // of each machine, overlapped: for partitions, relations and the others

  // The seconds of the exchange during which machines train.
  double Hidden() const;
};

// Follows the epochs of a training. One owner.
class MachineTimes {
 public:
  MachineTimes(const LaneMachines& machines, std::uint32_t partitions, const MachineSpeed& speed, MachineWork work);

  // Adds the next epoch.
  EpochTimes Add(const EpochPlan& plan);

 private:
  void Move(std::vector<PartitionMove> moves, EpochTimes& times);
  void Train(const EpochPlan& plan, std::size_t first_turn, std::size_t end_turn, EpochTimes& times);
  double StateSeconds(const PlannedState& state, std::uint32_t machine);
  void ExchangeRelations(EpochTimes& times);
  void Commit(EpochTimes& times);

  const LaneMachines machines_;
  const MachineSpeed speed_;
  const MachineWork work_;
  PartitionPlaces places_;  // in the round before
  // Of each machine, in seconds since the first epoch began: when it has trained all so far, and until when it sends
  // and receives.
  std::vector<double> clock_;
  std::vector<double> sending_;
  std::vector<double> receiving_;
  // Of each partition: when the last state with it ended, and when it has come to where it is.
  std::vector<double> done_;
  std::vector<double> arrived_;
  std::vector<std::vector<PartitionId>> in_memory_;  // of each machine, ascending
};

}  // namespace octavo
