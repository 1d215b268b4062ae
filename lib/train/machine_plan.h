// Plans what machines that share the lanes of a training send each other and how long they take, before they are
// rented.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "plan/machine_time.h"
#include "plan/machine_traffic.h"
#include "run/options.h"
#include "train/machine_probe.h"
#include "train/training_plan.h"

namespace octavo {

struct MachinePlan {
  LaneMachines machines;
  std::uint64_t memory_bytes = 0;  // of the machine that needs most
  bool lanes_in_memory = true;     // the partitions of all its lanes; otherwise those of one lane's states
  // Of each machine, as BytesOfMachines: the first epoch, and the second one, whose partitions come from where the
  // first one left them.
  std::vector<MachineBytes> first_epoch;
  std::vector<MachineBytes> epoch;
  MachineBytes training;             // of all machines and epochs; from the 33rd epoch on the mean of those before
  std::uint64_t gathered_bytes = 0;  // sent to machine 0 at the end, unless all have one folder
  // Of the second epoch. Zeros without rates.
  EpochTimes times;
  double compute_seconds = 0;  // of all its edges, divided by the number of machines

  // The share of the time that a machine would need if there were nothing but its edges. REQUIRES: there are rates
  double EfficiencyOverlapped() const { return compute_seconds / times.overlapped; }
  double EfficiencyOneByOne() const { return compute_seconds / times.one_by_one; }
};

// Returns a usage error if there are fewer lanes than machines.
absl::Status CheckMachines(const TrainOptions& options, std::uint64_t machines);

// Returns the plan of `machines` with `memory` bytes each that send `network` bytes a second. `one` is the plan of one
// machine, `rates` are those of each machine or nullptr. The usage error above, if there is one.
// REQUIRES: machines >= 1, network > 0
absl::StatusOr<MachinePlan> PlanMachines(const TrainOptions& options, const Graph& graph, const TrainingPlan& one,
                                         int threads, std::uint32_t machines, double network,
                                         const MachineRates* rates);

// Returns the smallest number of machines that no larger one makes more than 5 % faster, of the powers of two up to the
// number of lanes. REQUIRES: rates, as above
std::uint32_t MostUsefulMachines(const TrainOptions& options, const Graph& graph, const TrainingPlan& one, int threads,
                                 double network, const MachineRates& rates);

}  // namespace octavo
