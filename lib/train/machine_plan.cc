#include "train/machine_plan.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "plan/lane_plan.h"
#include "run/footprint.h"
#include "run/trained_edges.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPlannedEpochs = 32;

// The plans of a training's epochs, with what they depend on. Where a machine holds its lanes has no part in them.
class Planning {
 public:
  Planning(const TrainOptions& options, const Graph& graph, const TrainingPlan& one, std::uint32_t machines)
      : options_(options),
        description_(graph.description()),
        edges_(graph.Edges(Split::kTrain)),
        machines_{.lanes = static_cast<std::uint32_t>(options.lanes), .machines = machines},
        planner_(MakeEpochPlans(graph.Edges(Split::kTrain), {.lanes = machines_.lanes,
                                                             .shape = one.shape,
                                                             .order = options.order,
                                                             .seed = options.seed,
                                                             .hold_all = false,
                                                             .ahead = options.LoadsAhead()})) {}

  const LaneMachines& machines() const { return machines_; }
  const EpochPlan& Plan(std::uint64_t epoch) { return planner_->Plan(epoch); }
  std::vector<PartitionPlaces> Places(std::uint64_t epoch) {
    return PlacesOfRounds(Plan(epoch), machines_, description_.partition_count);
  }
  std::uint64_t BytesOf(PartitionId partition) const {
    const std::uint64_t begin = Value(partition) * description_.partition_rows;
    return std::min(description_.partition_rows, description_.node_count - begin) * NodeBytes(options_);
  }
  std::vector<MachineBytes> Bytes(const std::vector<PartitionPlaces>& rounds, const PartitionPlaces& before) const {
    return BytesOfMachines(
        rounds, before, machines_, [this](PartitionId p) { return BytesOf(p); }, RelationBytes(options_, description_));
  }
  // Edges are those of the graph, or the pairs of walks, which meet a node about as often.
  MachineWork Work(bool lanes_in_memory) const {
    const double scale =
        static_cast<double>(MostTrainedEdges(options_, description_)) / static_cast<double>(description_.train_edges);
    return {.bytes_of = [this](PartitionId p) { return BytesOf(p); },
            .edges_of =
                [this, scale](const CellId& cell) {
                  return scale * static_cast<double>(edges_.at(Value(cell.head), Value(cell.tail)));
                },
            .relation_bytes = RelationBytes(options_, description_),
            .lanes_in_memory = lanes_in_memory};
  }

 private:
  const TrainOptions& options_;
  const GraphDescription& description_;
  const PartitionEdges edges_;
  const LaneMachines machines_;
  const std::unique_ptr<EpochPlans> planner_;
};

// The most bytes that a machine has of its lanes in a round, and of what comes for the next one meanwhile.
std::uint64_t MostHeld(const Planning& planning, const std::vector<PartitionPlaces>& rounds) {
  std::uint64_t most = 0;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::vector<std::uint64_t> held(planning.machines().machines);
    for (std::size_t p = 0; p < rounds[round].size(); ++p) {
      const std::uint64_t bytes = planning.BytesOf(static_cast<PartitionId>(p));
      held[rounds[round][p]] += bytes;
      if (round + 1 < rounds.size() && rounds[round + 1][p] != rounds[round][p]) held[rounds[round + 1][p]] += bytes;
    }
    most = std::max(most, *std::ranges::max_element(held));
  }
  return most;
}

// All machines and epochs.
void SumTraining(Planning& planning, std::uint64_t epochs, MachinePlan& plan) {
  PartitionPlaces before;
  MachineBytes later;
  const std::uint64_t planned = std::min(epochs, kPlannedEpochs);
  for (std::uint64_t epoch = 0; epoch < planned; ++epoch) {
    const std::vector<PartitionPlaces> rounds = planning.Places(epoch);
    for (const MachineBytes& of_one : planning.Bytes(rounds, before)) {
      plan.training += of_one;
      if (epoch > 0) later += of_one;
    }
    before = rounds.back();
  }
  for (std::size_t p = 0; p < before.size(); ++p) {
    if (before[p] != 0) plan.gathered_bytes += planning.BytesOf(static_cast<PartitionId>(p));
  }
  if (epochs == planned) return;
  const auto add = [&](std::uint64_t& sum, std::uint64_t of_later) {
    sum += of_later * (epochs - planned) / (planned - 1);
  };
  add(plan.training.partitions_sent, later.partitions_sent);
  add(plan.training.partitions_received, later.partitions_received);
  add(plan.training.relations_sent, later.relations_sent);
  add(plan.training.relations_received, later.relations_received);
}

// The times of the second epoch.
void SimulateTimes(Planning& planning, std::uint64_t all_edges, double network, const MachineRates& rates,
                   std::uint32_t partitions, MachinePlan& plan) {
  MachineTimes times(
      plan.machines, partitions,
      {.edges = rates.training, .disk_read = rates.disk_read, .disk_write = rates.disk_write, .network = network},
      planning.Work(plan.lanes_in_memory));
  times.Add(planning.Plan(0));
  plan.times = times.Add(planning.Plan(1));
  plan.compute_seconds = static_cast<double>(all_edges) / rates.training / plan.machines.machines;
}

// All but the sums of the training.
MachinePlan PlanEpochs(const TrainOptions& options, const Graph& graph, const TrainingPlan& one, int threads,
                       double network, const MachineRates* rates, Planning& planning) {
  const GraphDescription& description = graph.description();
  MachinePlan plan;
  plan.machines = planning.machines();
  const std::vector<PartitionPlaces> first = planning.Places(0);
  const std::vector<PartitionPlaces> second = planning.Places(1);
  plan.first_epoch = planning.Bytes(first, {});
  plan.epoch = planning.Bytes(second, first.back());
  const MemoryEstimate whole = EstimateTrainingMemory(options, description, threads, one.shape, /*hold_all=*/true);
  plan.memory_bytes = whole.total() - description.node_count * NodeBytes(options) + MostHeld(planning, second);
  plan.lanes_in_memory = plan.memory_bytes <= one.memory;
  if (!plan.lanes_in_memory) {
    plan.memory_bytes = EstimateTrainingMemory(options, description, threads, one.shape).total();
  }
  if (rates != nullptr) {
    SimulateTimes(planning, MostTrainedEdges(options, description), network, *rates, description.partition_count, plan);
  }
  return plan;
}

}  // namespace

absl::Status CheckMachines(const TrainOptions& options, std::uint64_t machines) {
  if (machines > options.lanes) {
    return UsageError(
        fmt::format("machines: found {}; expected at most {}, the number of lanes (--lanes)", machines, options.lanes));
  }
  return absl::OkStatus();
}

absl::StatusOr<MachinePlan> PlanMachines(const TrainOptions& options, const Graph& graph, const TrainingPlan& one,
                                         int threads, std::uint32_t machines, double network,
                                         const MachineRates* rates) {
  RETURN_IF_ERROR(CheckMachines(options, machines));
  Planning planning(options, graph, one, machines);
  MachinePlan plan = PlanEpochs(options, graph, one, threads, network, rates, planning);
  SumTraining(planning, options.epochs, plan);
  return plan;
}

std::uint32_t MostUsefulMachines(const TrainOptions& options, const Graph& graph, const TrainingPlan& one, int threads,
                                 double network, const MachineRates& rates) {
  constexpr double kWorthwhile = 0.95;
  const auto lanes = static_cast<std::uint32_t>(options.lanes);
  std::uint32_t useful = lanes;
  double least = 0;  // seconds, of the numbers above
  for (std::uint32_t machines = lanes; machines >= 1; machines /= 2) {
    Planning planning(options, graph, one, machines);
    const double seconds = PlanEpochs(options, graph, one, threads, network, &rates, planning).times.overlapped;
    if (machines == lanes || kWorthwhile * seconds <= least) useful = machines;
    least = machines == lanes ? seconds : std::min(least, seconds);
  }
  return useful;
}

}  // namespace octavo
