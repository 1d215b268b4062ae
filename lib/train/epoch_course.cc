#include "train/epoch_course.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace octavo {
namespace {

// Of ascending partitions.
std::vector<PartitionId> Union(std::span<const PartitionId> a, std::span<const PartitionId> b) {
  std::vector<PartitionId> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

std::vector<PartitionId> Both(const std::vector<PartitionId>& a, const std::vector<PartitionId>& b) {
  std::vector<PartitionId> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

}  // namespace

EpochCourse::EpochCourse(const EpochPlan& whole, std::vector<std::uint64_t> first_batches, std::uint64_t accumulate,
                         const LaneRange& lanes, const EpochPosition& position, bool keep_lanes)
    : first_batches_(std::move(first_batches)), steps_(first_batches_, accumulate), turns_(whole.turns) {
  plan_.ahead = whole.ahead;
  if (turns_.empty()) {
    done_.push_back(position.batches);
    states_.reserve(whole.states.size());
    AddTurn({.end_state = whole.states.size()});
    plan_.states = whole.states.From(whole.states.size() - states_.size());
    for (std::size_t s = 1; s < plan_.states.size(); ++s) {
      if (!plan_.states[s].entering.empty()) ++plan_.exchanges;
    }
    return;
  }
  std::vector<DraftState> states;
  first_round_ = position.round;
  for (const LaneRecord& lane : position.lanes) done_.push_back(lane.batches);
  rounds_ = turns_.back().round + 1;
  skipped_.assign(whole.states.size(), true);
  for (const LaneTurn& turn : turns_) {
    if (!lanes.Has(turn.lane)) continue;
    for (std::size_t s = turn.first_state; s < turn.end_state; ++s) skipped_[s] = false;
    if (turn.round < first_round_) continue;
    const std::size_t before = states_.size();
    AddTurn(turn);
    const std::size_t left = states_.size() - before;
    for (std::size_t s = turn.end_state - left; s < turn.end_state; ++s) states.push_back(CopyOf(whole.states[s]));
  }
  if (keep_lanes) KeepLanes(states);
  SetExchanges(states);
  plan_.states = StatesOf(states);
}

// What moves between two states depends on which of them this process trains.
void EpochCourse::SetExchanges(std::vector<DraftState>& states) {
  for (std::size_t s = 0; s < states.size(); ++s) {
    DraftState& state = states[s];
    const std::vector<PartitionId> none;
    const std::vector<PartitionId>& before = s == 0 ? none : states[s - 1].resident;
    state.entering = s == 0 ? none : Without(state.resident, before);
    state.leaving = Without(before, state.resident);
    if (!state.entering.empty()) ++plan_.exchanges;
  }
}

// Batches that the lane has done in the round.
std::uint64_t EpochCourse::DoneOf(std::uint32_t round, std::uint32_t lane) const {
  return round == first_round_ && lane < done_.size() ? done_[lane] : 0;
}

bool EpochCourse::IsDone(std::size_t state, const LaneTurn& turn) const {
  const std::uint64_t done = DoneOf(turn.round, turn.lane);
  return done > 0 && first_batches_[state + 1] <= first_batches_[turn.first_state] + done;
}

// Adds what is left of a turn: its last states.
void EpochCourse::AddTurn(const LaneTurn& turn) {
  const std::uint64_t first = first_batches_[turn.first_state] + DoneOf(turn.round, turn.lane);
  for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
    if (IsDone(s, turn)) continue;
    states_.push_back({.first_batch = std::max(first, first_batches_[s]),
                       .end_batch = first_batches_[s + 1],
                       .round = turn.round,
                       .lane = turn.lane});
    batches_ += states_.back().end_batch - states_.back().first_batch;
  }
}

// Partitions still come when the first state needs them, as those of a later lane may be on their way. In a turn that
// is partly done, partitions that only the done part used can still be resident for the next turn. They come too: for
// other processes they are this lane's (UsersLeft), and would otherwise stay on their way.
void EpochCourse::KeepLanes(std::vector<DraftState>& states) const {
  std::vector<std::vector<PartitionId>> own(states.size());
  for (std::size_t s = 0; s < states.size(); ++s) {
    const bool partly_done = DoneOf(states_[s].round, states_[s].lane) > 0;
    own[s] = partly_done ? states[s].resident : states[s].NegativePartitions();
  }
  // What states from each one on need in its round, and of what the round uses also what the next one does.
  std::vector<std::vector<PartitionId>> needed(states.size());
  for (std::size_t s = states.size(); s-- > 0;) {
    if (s + 1 == states.size()) {
      needed[s] = own[s];
    } else if (states_[s + 1].round == states_[s].round) {
      needed[s] = Union(own[s], needed[s + 1]);
    } else {
      const std::vector<PartitionId> stays =
          Both(UsedIn(states_[s].round, states), UsedIn(states_[s + 1].round, states));
      needed[s] = Union(own[s], stays);
    }
  }
  for (std::size_t s = 0; s < states.size(); ++s) {
    states[s].negatives = states[s].NegativePartitions();
    states[s].resident = own[s];
    if (s == 0) continue;
    states[s].resident = Union(own[s], Both(states[s - 1].resident, needed[s]));
    states[s].ahead = plan_.ahead && states_[s].round == states_[s - 1].round;
  }
}

std::vector<PartitionId> EpochCourse::UsedIn(std::uint32_t round, const std::vector<DraftState>& states) const {
  std::vector<PartitionId> used;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (states_[s].round == round) used = Union(used, states[s].NegativePartitions());
  }
  return used;
}

std::vector<std::uint32_t> EpochCourse::UsersLeft(const EpochPlan& whole, std::uint32_t round,
                                                  std::size_t partitions) const {
  std::vector<std::uint32_t> lanes(partitions, kNoLane);
  for (const LaneTurn& turn : turns_) {
    if (turn.round != round) continue;
    for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
      if (IsDone(s, turn)) continue;
      for (const PartitionId partition : whole.states[s].resident) lanes[Value(partition)] = turn.lane;
    }
  }
  return lanes;
}

std::uint64_t EpochCourse::FirstBatchOf(std::uint32_t round, std::uint32_t lane) const {
  const auto turn =
      std::ranges::find_if(turns_, [&](const LaneTurn& each) { return each.round == round && each.lane == lane; });
  return first_batches_[turn->first_state];
}

std::uint64_t EpochCourse::StepsBefore(const EpochPosition& position) const {
  if (turns_.empty()) return steps_.Before(position.batches);
  std::uint64_t steps = steps_.Before(FirstBatchOf(position.round, 0));
  for (std::uint32_t lane = 0; lane < position.lanes.size(); ++lane) {
    const std::uint64_t first = FirstBatchOf(position.round, lane);
    steps += steps_.Before(first + position.lanes[lane].batches) - steps_.Before(first);
  }
  return steps;
}

}  // namespace octavo
