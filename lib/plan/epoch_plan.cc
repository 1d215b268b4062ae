#include "plan/epoch_plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

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

std::vector<PartitionId> Without(const std::vector<PartitionId>& all, const std::vector<PartitionId>& some) {
  std::vector<PartitionId> rest;
  std::ranges::set_difference(all, some, std::back_inserter(rest));
  return rest;
}

std::uint32_t LargestPartition(std::uint32_t fine_partitions, std::uint32_t partitions) {
  return (fine_partitions + partitions - 1) / partitions;
}

Traffic PlannedTraffic(const EpochPlan& plan, const std::function<std::uint64_t(PartitionId)>& bytes_of,
                       std::size_t first_state, const std::vector<PartitionId>& first_loads) {
  const auto bytes = [&](const std::vector<PartitionId>& partitions) {
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
                           std::uint64_t seed, std::uint64_t first_epoch)
    : fine_partitions_(fine_partitions), shape_(shape), order_(order), seed_(seed), first_epoch_(first_epoch) {}

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
  // With 512 partitions a plan takes tens of megabytes: the previous one goes first, and states move from the order to
  // the plan.
  plan_ = {};
  const std::vector<std::vector<PartitionId>> sets = DrawPartitions(epoch);
  const RandomStream random(seed_, RandomPurpose::kBucketOrder, static_cast<std::uint32_t>(epoch), 0);
  std::vector<std::uint32_t> sizes;
  std::vector<PartitionId> units;
  for (const std::vector<PartitionId>& set : sets) {
    sizes.push_back(static_cast<std::uint32_t>(set.size()));
    units.insert(units.end(), set.begin(), set.end());
  }
  std::vector<OrderState> order = MakeBucketOrder(order_, sizes, shape_.resident, random);
  const auto sorted = [](std::vector<PartitionId> partitions) {
    std::sort(partitions.begin(), partitions.end());
    return partitions;
  };
  plan_.exchanges = order.size() - 1;
  plan_.states.reserve(order.size());
  std::vector<PartitionId> resident;
  for (std::uint32_t g = 0; g < shape_.resident; ++g) {
    resident.insert(resident.end(), sets[g].begin(), sets[g].end());
  }
  std::sort(resident.begin(), resident.end());
  for (OrderState& state : order) {
    PlannedState planned;
    if (state.exchange) {
      planned.leaving = sorted(sets[state.exchange->leaves]);
      planned.entering = sorted(sets[state.exchange->enters]);
      std::erase_if(resident, [&](PartitionId p) {
        return std::binary_search(planned.leaving.begin(), planned.leaving.end(), p);
      });
      resident.insert(resident.end(), planned.entering.begin(), planned.entering.end());
      std::sort(resident.begin(), resident.end());
    }
    planned.resident = resident;
    planned.cells.reserve(state.cells.size());
    for (const UnitCell& cell : std::exchange(state.cells, {})) {
      planned.cells.push_back({units[cell.head], units[cell.tail]});
    }
    std::sort(planned.cells.begin(), planned.cells.end());
    plan_.states.push_back(std::move(planned));
  }
  carried_ = std::move(resident);
  epoch_ = epoch;
  planned_ = true;
}

}  // namespace octavo
