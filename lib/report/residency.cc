#include "report/residency.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "plan/lane_plan.h"

namespace octavo {
namespace {

using Spans = std::vector<std::pair<double, double>>;

std::map<CellId, std::uint64_t> EdgesOfCells(const CellReader& train) {
  std::map<CellId, std::uint64_t> edges;
  for (std::size_t i = 0; i < train.block_count(); ++i) {
    const BlockRecord& block = train.block(i);
    edges[{PartitionId{block.head_partition}, PartitionId{block.tail_partition}}] += block.edges;
  }
  return edges;
}

}  // namespace

Residency PlannedResidency(const Progress& progress, const TrainOptions& options, const CellReader& train) {
  const PartitionShape shape = {static_cast<std::uint32_t>(progress.partitions),
                                static_cast<std::uint32_t>(progress.resident)};
  const std::unique_ptr<EpochPlans> planner = MakeEpochPlans(train, {.lanes = static_cast<std::uint32_t>(options.lanes),
                                                                     .shape = shape,
                                                                     .order = options.order,
                                                                     .seed = options.seed,
                                                                     .first_epoch = progress.plan_epoch,
                                                                     .ahead = options.LoadsAhead()});
  const std::uint64_t epoch =
      std::max(progress.plan_epoch, progress.epoch - std::min<std::uint64_t>(1, progress.epoch));
  const EpochPlan& plan = planner->Plan(epoch);
  const std::map<CellId, std::uint64_t> edges_of = EdgesOfCells(train);
  const double edges = static_cast<double>(std::max<std::uint64_t>(1, train.edge_count()));
  std::vector<Spans> spans(train.header().partition_count);
  std::uint64_t trained = 0;
  for (std::size_t s = 0; s < plan.states.size(); ++s) {
    const PlannedState state = plan.states[s];
    const double from = static_cast<double>(trained) / edges;
    for (const CellId& cell : state.cells) {
      if (const auto found = edges_of.find(cell); found != edges_of.end()) trained += found->second;
    }
    const double to = static_cast<double>(trained) / edges;
    if (to == from) continue;  // takes no time
    for (const PartitionId partition : state.resident) {
      Spans& own = spans[Value(partition)];
      if (!own.empty() && own.back().second == from) {
        own.back().second = to;
      } else {
        own.emplace_back(from, to);
      }
    }
  }
  Residency residency = {.epoch = epoch + 1, .resident = progress.resident, .loads = plan.exchanges};
  std::map<Spans, std::uint64_t> fine_partitions;
  for (Spans& own : spans) ++fine_partitions[std::move(own)];
  for (const auto& [own, count] : fine_partitions) residency.partitions.push_back({count, own});
  return residency;
}

}  // namespace octavo
