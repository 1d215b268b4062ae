#include "train/training_plan.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/status.h"
#include "format/cells.h"
#include "format/npy_header.h"
#include "plan/lane_plan.h"
#include "plan/partition_plan.h"
#include "run/footprint.h"
#include "run/trained_edges.h"

namespace octavo {
namespace {

// The loads of partitions in an epoch, and the bytes of its tables and edges.
struct PlannedEpoch {
  std::uint64_t loads = 0;
  Traffic traffic;
};

PlannedEpoch PlanEpoch(const TrainOptions& options, const Graph& graph, EpochPlans& planner,
                       const PartitionShape& shape, std::uint64_t epoch, std::uint64_t relation_bytes) {
  const GraphDescription& description = graph.description();
  std::vector<PartitionId> in_memory;  // as the previous epoch leaves it; its last exchange ahead waits to take out
  if (epoch > 0) {
    const PlannedState last = planner.Plan(epoch - 1).states.back();
    in_memory.assign(last.resident.begin(), last.resident.end());
    if (last.ahead) in_memory.insert(in_memory.end(), last.leaving.begin(), last.leaving.end());
    std::ranges::sort(in_memory);
  }
  const EpochPlan& plan = planner.Plan(epoch);
  const std::vector<PartitionId> first_loads = Without(plan.states[0].resident, in_memory);
  const auto bytes_of = [&](PartitionId partition) {
    const std::uint64_t begin = Value(partition) * description.partition_rows;
    return std::min(description.partition_rows, description.node_count - begin) * NodeBytes(options);
  };
  PlannedEpoch planned;
  planned.loads = plan.exchanges + (first_loads.empty() ? 0 : shape.resident);
  planned.traffic = PlannedTraffic(plan, bytes_of, 0, first_loads);
  planned.traffic.read += MostTrainedEdges(options, description) * EdgeBytes(graph.Edges(Split::kTrain).header());
  planned.traffic.written += relation_bytes;
  return planned;
}

// The relations of each lane, for a commit within a round.
std::uint64_t LaneFileBytes(const TrainOptions& options, const GraphDescription& graph) {
  return options.lanes == 1 ? 0 : options.lanes * RelationBytes(options, graph) + 2 * kNpyHeaderBytes;
}

// Of embeddings, relations, the optimizer state of both, metrics.jsonl and STATE (checkpoint/run_tables.h).
constexpr double kSyncsOfCommit = 6;

void ExpectSeconds(const TrainOptions& options, const MachineRates& rates, const GraphDescription& graph,
                   TrainingPlan& plan) {
  const auto seconds = [&](const Traffic& traffic) {
    return static_cast<double>(traffic.read) / rates.disk_read +
           static_cast<double>(traffic.written) / rates.disk_write;
  };
  const double compute = static_cast<double>(MostTrainedEdges(options, graph)) / rates.training;
  // Exchanges overlap with training if partitions come in ahead; the commit at the end does not.
  const double resident = plan.hold_all ? 0 : plan.shape.resident;
  const std::uint64_t at_commit =
      plan.hold_all ? plan.epoch.written : static_cast<std::uint64_t>(resident) * plan.largest_partition_bytes;
  Traffic background = plan.epoch;
  background.written -= std::min(background.written, at_commit);
  const double exchanging = seconds(background);
  plan.epoch_seconds =
      (options.LoadsAhead() ? std::max(compute, exchanging) : compute + exchanging) + seconds({0, at_commit});
  if (options.durability == Durability::kFull) plan.epoch_seconds += kSyncsOfCommit * rates.sync;
  Traffic outside = plan.training;
  outside.read -= std::min(outside.read, plan.first_epoch.read + (options.epochs - 1) * plan.epoch.read);
  outside.written -= std::min(outside.written, plan.first_epoch.written + (options.epochs - 1) * plan.epoch.written);
  plan.seconds = static_cast<double>(options.epochs) * plan.epoch_seconds + seconds(outside) +
                 seconds({plan.first_epoch.read - std::min(plan.first_epoch.read, plan.epoch.read), 0});
  if (rates.tables > 0) plan.seconds += static_cast<double>(graph.node_count * NodeBytes(options)) / rates.tables;
}

}  // namespace

std::uint64_t RelationBytes(const TrainOptions& options, const GraphDescription& graph) {
  const std::size_t width = options.model_spec().RelationWidth();
  const std::uint64_t state = width == 0 ? 0 : StateWidth(options.optimizer, width);
  return std::uint64_t{graph.relation_count} * (options.reciprocal ? 2 : 1) * (width + state) * sizeof(float);
}

DiskSpace DiskSpaceOf(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& shape) {
  const std::uint64_t tables =
      graph.node_count * NodeBytes(options) + RelationBytes(options, graph) + 4 * kNpyHeaderBytes;
  const std::uint64_t gradients =
      MmapGradientAccumulator::FileBytes(options.dim, GradientCapacityOf(options, graph, shape))
          .value_or(UINT64_MAX / 2);
  // The best run, and the copy that is about to replace it.
  const std::uint64_t copies = options.keep == Keep::kBest ? 2 : 0;
  const std::uint64_t scratch = gradients + 2 * LaneFileBytes(options, graph);
  return {.beginning = 2 * tables + scratch,
          .training = (2 + copies) * tables + scratch,
          .after = (1 + copies / 2) * tables};
}

absl::StatusOr<TrainingPlan> PlanTraining(const TrainOptions& options, const Graph& graph, std::uint64_t memory,
                                          int threads, const std::filesystem::path& folder, const MachineRates* rates) {
  const GraphDescription& description = graph.description();
  TrainingPlan plan;
  plan.memory = memory;
  ASSIGN_OR_RETURN(plan.shape, ChooseShape(options, description, memory, threads));
  plan.loading = ChooseLoading(options, graph, memory, threads, plan.shape, folder);
  plan.hold_all = HoldsAllTables(options, description, threads, plan.shape, memory);
  plan.estimate = EstimateTrainingMemory(options, description, threads, plan.shape, plan.hold_all);
  const std::uint64_t tables = description.node_count * NodeBytes(options);
  const std::uint64_t fine_bytes = description.partition_rows * NodeBytes(options);
  const auto lanes = static_cast<std::uint32_t>(options.lanes);
  const std::uint32_t divided =
      lanes == 1 ? description.partition_count : LargestLane(description.partition_count, lanes);
  plan.largest_partition_bytes = std::min(tables, LargestPartition(divided, plan.shape.partitions) * fine_bytes);
  const CellReader& edges = graph.Edges(Split::kTrain);
  if (lanes > 1) {
    const PartitionEdges counts(edges);
    plan.lane_balance = LaneBalance(counts, DrawLaneGroups(counts, lanes, options.seed, /*epoch=*/0));
  }
  const std::uint64_t relations = RelationBytes(options, description);
  const std::unique_ptr<EpochPlans> planner = MakeEpochPlans(edges, {.lanes = lanes,
                                                                     .shape = plan.shape,
                                                                     .order = options.order,
                                                                     .seed = options.seed,
                                                                     .hold_all = plan.hold_all,
                                                                     .ahead = options.LoadsAhead()});
  const PlannedEpoch first = PlanEpoch(options, graph, *planner, plan.shape, 0, relations);
  const PlannedEpoch later = PlanEpoch(options, graph, *planner, plan.shape, 1, relations);
  plan.first_epoch_loads = first.loads;
  plan.epoch_loads = later.loads;
  plan.first_epoch = first.traffic;
  plan.epoch = later.traffic;
  // Each epoch's commit moves all rows to the other slot. After an odd number of epochs they are in the second files
  // and are copied back.
  const bool back = options.epochs % 2 == 1;
  const std::uint64_t resident = plan.hold_all ? tables : plan.shape.resident * plan.largest_partition_bytes;
  const std::uint64_t later_epochs = options.epochs - 1;
  plan.training.read =
      first.traffic.read + later_epochs * later.traffic.read + (back ? tables - std::min(tables, resident) : 0);
  plan.training.written = tables + relations + first.traffic.written + later_epochs * later.traffic.written +
                          (back ? tables + relations : 0);
  const DiskSpace disk = DiskSpaceOf(options, description, plan.shape);
  plan.disk_bytes = disk.training;
  plan.disk_bytes_after = disk.after;
  if (rates != nullptr) ExpectSeconds(options, *rates, description, plan);
  return plan;
}

}  // namespace octavo
