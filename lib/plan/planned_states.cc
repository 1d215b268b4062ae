#include "plan/planned_states.h"

#include <algorithm>
#include <iterator>

namespace octavo {

std::vector<PartitionId> Without(std::span<const PartitionId> all, std::span<const PartitionId> some) {
  std::vector<PartitionId> rest;
  std::ranges::set_difference(all, some, std::back_inserter(rest));
  return rest;
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

}  // namespace octavo
