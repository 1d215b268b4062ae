#include "plan/epoch_plan.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"

namespace octavo {
namespace {

// Cuts `partitions` into `count` sets whose sizes differ by at most one, and appends them to `sets`.
void AddPartitions(std::span<const PartitionId> partitions, std::size_t count,
                   std::vector<std::vector<PartitionId>>& sets) {
  std::size_t begin = 0;
  for (std::size_t g = 0; g < count; ++g) {
    const std::size_t end = partitions.size() * (g + 1) / count;
    sets.emplace_back(partitions.begin() + static_cast<std::ptrdiff_t>(begin),
                      partitions.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
}

}  // namespace

std::uint64_t PartitionsListed(std::uint32_t fine_partitions, const PartitionShape& shape, std::uint64_t states) {
  const std::uint64_t largest = LargestPartition(fine_partitions, shape.partitions);
  return states * (shape.resident + 2) * largest;
}

std::uint32_t LargestPartition(std::uint32_t fine_partitions, std::uint32_t partitions) {
  return (fine_partitions + partitions - 1) / partitions;
}

Traffic PlannedTraffic(const EpochPlan& plan, const std::function<std::uint64_t(PartitionId)>& bytes_of,
                       std::size_t first_state, std::span<const PartitionId> first_loads) {
  const auto bytes = [&](std::span<const PartitionId> partitions) {
    std::uint64_t sum = 0;
    for (const PartitionId partition : partitions) sum += bytes_of(partition);
    return sum;
  };
  Traffic traffic;
  traffic.read += bytes(first_loads);
  for (std::size_t s = first_state + 1; s < plan.states.size(); ++s) {
    traffic.read += bytes(plan.states[s].entering);
    traffic.written += bytes(plan.states[s].leaving);
  }
  traffic.written += bytes(plan.states.back().resident);
  return traffic;
}

EpochPlanner::EpochPlanner(std::uint32_t fine_partitions, const PartitionShape& shape, BucketOrder order,
                           std::uint64_t seed, std::uint64_t first_epoch, bool ahead)
    : fine_partitions_(fine_partitions),
      shape_(shape),
      order_(order),
      seed_(seed),
      first_epoch_(first_epoch),
      ahead_(ahead) {}

const EpochPlan& EpochPlanner::Plan(std::uint64_t epoch) {
  if (planned_ && epoch < epoch_) {
    planned_ = false;
    carried_.clear();
  }
  while (!planned_ || epoch_ < epoch) {
    MakePlan(planned_ ? epoch_ + 1 : first_epoch_);
  }
  return plan_;
}

// The partitions of the first state come first; they are drawn from the fine ones that are already in memory.
std::vector<std::vector<PartitionId>> EpochPlanner::DrawPartitions(std::uint64_t epoch) const {
  RandomStream random(seed_, RandomPurpose::kPartitions, static_cast<std::uint32_t>(epoch), 0);
  std::vector<std::vector<PartitionId>> sets;
  std::vector<PartitionId> others(fine_partitions_);
  for (std::uint32_t p = 0; p < fine_partitions_; ++p) others[p] = static_cast<PartitionId>(p);
  if (carried_.empty()) {
    Shuffle(std::span(others), random);
    AddPartitions(others, shape_.partitions, sets);
    return sets;
  }
  std::vector<PartitionId> carried = carried_;
  std::erase_if(others, [&](PartitionId p) { return std::binary_search(carried.begin(), carried.end(), p); });
  Shuffle(std::span(carried), random);
  Shuffle(std::span(others), random);
  AddPartitions(carried, shape_.resident, sets);
  AddPartitions(others, shape_.partitions - shape_.resident, sets);
  return sets;
}

void EpochPlanner::MakePlan(std::uint64_t epoch) {
  plan_ = {};  // first, as it can take megabytes
  std::vector<std::vector<PartitionId>> sets = DrawPartitions(epoch);
  const RandomStream random(seed_, RandomPurpose::kBucketOrder, static_cast<std::uint32_t>(epoch), 0);
  std::vector<std::uint32_t> sizes;
  std::vector<PartitionId> units;
  for (std::vector<PartitionId>& set : sets) {
    sizes.push_back(static_cast<std::uint32_t>(set.size()));
    units.insert(units.end(), set.begin(), set.end());
    std::ranges::sort(set);
  }
  const StateSequence order = MakeBucketOrder(order_, sizes, shape_.resident, random);
  std::vector<PartitionId> resident;
  for (std::uint32_t g = 0; g < shape_.resident; ++g) {
    resident.insert(resident.end(), sets[g].begin(), sets[g].end());
  }
  std::ranges::sort(resident);
  PlannedStates::Maker states(order.size(), order.cells.size(),
                              PartitionsListed(fine_partitions_, shape_, order.size()));
  std::vector<CellId> cells;
  for (std::size_t s = 0; s < order.size(); ++s) {
    PlannedState state;
    state.ahead = ahead_;
    if (s > 0) {
      state.leaving = sets[order.exchanges[s - 1].leaves];
      state.entering = sets[order.exchanges[s - 1].enters];
      resident = Without(resident, state.leaving);
      resident.insert(resident.end(), state.entering.begin(), state.entering.end());
      std::ranges::sort(resident);
    }
    state.resident = resident;
    cells.clear();
    for (const UnitCell& cell : order.CellsOf(s)) cells.push_back({units[cell.head], units[cell.tail]});
    std::ranges::sort(cells);
    state.cells = cells;
    states.Add(state);
  }
  plan_.states = states.Make();
  plan_.exchanges = order.exchanges.size();
  plan_.ahead = ahead_;
  carried_ = std::move(resident);
  epoch_ = epoch;
  planned_ = true;
}

}  // namespace octavo
