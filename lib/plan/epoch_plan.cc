#include "plan/epoch_plan.h"

#include <algorithm>
#include <iterator>
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

std::vector<PartitionId> Without(std::span<const PartitionId> all, std::span<const PartitionId> some) {
  std::vector<PartitionId> rest;
  std::ranges::set_difference(all, some, std::back_inserter(rest));
  return rest;
}

std::uint64_t PartitionsListed(std::uint32_t fine_partitions, const PartitionShape& shape, std::uint64_t states) {
  const std::uint64_t largest = LargestPartition(fine_partitions, shape.partitions);
  return states * (shape.resident + 2) * largest;
}

PlannedState ViewOf(const DraftState& draft) {
  return {.leaving = draft.leaving,
          .entering = draft.entering,
          .resident = draft.resident,
          .cells = draft.cells,
          .negatives = draft.negatives,
          .first_group = draft.first_group,
          .ahead = draft.ahead};
}

DraftState CopyOf(const PlannedState& state) {
  const auto copy = [](const auto& list) { return std::vector(list.begin(), list.end()); };
  return {.leaving = copy(state.leaving),
          .entering = copy(state.entering),
          .resident = copy(state.resident),
          .cells = copy(state.cells),
          .negatives = copy(state.negatives),
          .first_group = copy(state.first_group),
          .ahead = state.ahead};
}

PlannedState PlannedStates::operator[](std::size_t s) const {
  const Place& place = storage_->places[first_ + s];
  const PartitionId* next = storage_->partitions.data() + place.first_partition;
  const auto take = [&](std::size_t count) {
    const std::span list(next, count);
    next += count;
    return list;
  };
  PlannedState state;
  state.leaving = take(place.leaving);
  state.entering = take(place.entering);
  state.resident = take(place.resident);
  state.negatives = take(place.negatives);
  state.first_group = take(place.first_group);
  state.cells = std::span(storage_->cells).subspan(place.first_cell, place.cells);
  state.ahead = place.ahead;
  return state;
}

PlannedStates::Iterator PlannedStates::begin() const { return Iterator(this, 0); }
PlannedStates::Iterator PlannedStates::end() const { return Iterator(this, size()); }

PlannedStates PlannedStates::From(std::size_t first) const {
  PlannedStates states = *this;
  states.first_ += first;
  return states;
}

std::uint64_t PlannedStates::Bytes(std::uint64_t states, std::uint64_t cells, std::uint64_t partitions) {
  return states * sizeof(Place) + cells * sizeof(CellId) + partitions * sizeof(PartitionId);
}

PlannedStates::Maker::Maker(std::size_t states, std::size_t cells, std::size_t partitions)
    : storage_(std::make_shared<Storage>()) {
  storage_->places.reserve(states);
  storage_->cells.reserve(cells);
  storage_->partitions.reserve(partitions);
}

void PlannedStates::Maker::Add(const PlannedState& state) {
  Place place{.first_partition = storage_->partitions.size(),
              .first_cell = static_cast<std::uint32_t>(storage_->cells.size()),
              .cells = static_cast<std::uint32_t>(state.cells.size()),
              .ahead = state.ahead};
  const auto add = [&](std::span<const PartitionId> list, std::uint16_t& count) {
    storage_->partitions.insert(storage_->partitions.end(), list.begin(), list.end());
    count = static_cast<std::uint16_t>(list.size());
  };
  add(state.leaving, place.leaving);
  add(state.entering, place.entering);
  add(state.resident, place.resident);
  add(state.negatives, place.negatives);
  add(state.first_group, place.first_group);
  storage_->cells.insert(storage_->cells.end(), state.cells.begin(), state.cells.end());
  storage_->places.push_back(place);
}

PlannedStates PlannedStates::Maker::Make() {
  PlannedStates states;
  states.end_ = storage_->places.size();
  states.storage_ = std::move(storage_);
  return states;
}

PlannedStates StatesOf(std::span<const DraftState> drafts) {
  std::size_t cells = 0;
  std::size_t partitions = 0;
  for (const DraftState& draft : drafts) {
    cells += draft.cells.size();
    partitions += draft.leaving.size() + draft.entering.size() + draft.resident.size() + draft.negatives.size() +
                  draft.first_group.size();
  }
  PlannedStates::Maker states(drafts.size(), cells, partitions);
  for (const DraftState& draft : drafts) states.Add(ViewOf(draft));
  return states.Make();
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
