#include "plan/lane_plan.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"

namespace octavo {
namespace {

using Partitions = std::vector<PartitionId>;

bool Holds(const Partitions& sorted, PartitionId partition) {
  return std::binary_search(sorted.begin(), sorted.end(), partition);
}

Partitions Sorted(Partitions partitions) {
  std::ranges::sort(partitions);
  return partitions;
}

// Cuts `partitions` into `count` sets whose sizes differ by at most one.
std::vector<Partitions> Cut(const Partitions& partitions, std::uint32_t count) {
  std::vector<Partitions> sets;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(partitions.size() * i / count);
    const auto end = static_cast<std::ptrdiff_t>(partitions.size() * (i + 1) / count);
    sets.emplace_back(partitions.begin() + begin, partitions.begin() + end);
  }
  return sets;
}

}  // namespace

LanePlanner::LanePlanner(PartitionEdges edges, std::uint32_t lanes, const PartitionShape& shape, BucketOrder order,
                         std::uint64_t seed, bool hold_all, bool ahead)
    : edges_(std::move(edges)),
      lanes_(lanes),
      shape_(shape),
      order_(order),
      seed_(seed),
      hold_all_(hold_all),
      ahead_(ahead) {}

const EpochPlan& LanePlanner::Plan(std::uint64_t epoch) {
  plan_ = {};
  groups_ = DrawLaneGroups(edges_, lanes_, seed_, epoch);
  const std::vector<LaneRound> rounds = MakeLaneRounds(lanes_);
  std::vector<DraftState> states;
  for (std::uint32_t round = 0; round < rounds.size(); ++round) {
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      AddTurn(epoch, round, lane, rounds[round][lane], states);
    }
  }
  SetExchanges(states);
  plan_.states = StatesOf(states);
  plan_.ahead = ahead_;
  return plan_;
}

// Adds the states of a lane in a round, at least one.
void LanePlanner::AddTurn(std::uint64_t epoch, std::uint32_t round, std::uint32_t lane, const LanePair& pair,
                          std::vector<DraftState>& states) {
  LaneTurn turn{.round = round, .lane = lane, .first_state = states.size()};
  const Partitions& first = groups_[pair[0]];
  Partitions held = first;
  held.insert(held.end(), groups_[pair[1]].begin(), groups_[pair[1]].end());
  // Numbers for the random streams, which differ from those of a training without lanes.
  const std::uint64_t place = 1 + (std::uint64_t{round} << 32) + lane;
  const auto in_epoch = static_cast<std::uint32_t>(epoch);
  RandomStream random(seed_, RandomPurpose::kPartitions, in_epoch, place);
  Shuffle(std::span(held), random);
  const std::vector<Partitions> sets = Cut(held, shape_.partitions);
  std::vector<std::uint32_t> sizes;
  for (const Partitions& set : sets) sizes.push_back(static_cast<std::uint32_t>(set.size()));
  std::vector<bool> in_memory(sets.size());
  std::fill_n(in_memory.begin(), shape_.resident, true);
  const StateSequence order = MakeBucketOrder(order_, sizes, shape_.resident,
                                              RandomStream(seed_, RandomPurpose::kBucketOrder, in_epoch, place));
  for (std::size_t s = 0; s < order.size(); ++s) {
    if (s > 0) {
      in_memory[order.exchanges[s - 1].leaves] = false;
      in_memory[order.exchanges[s - 1].enters] = true;
    }
    DraftState planned;
    planned.ahead = ahead_;
    for (const UnitCell& cell : order.CellsOf(s)) {
      const CellId id = {held[cell.head], held[cell.tail]};
      const bool head_in_first = Holds(first, id.head);
      if (head_in_first != Holds(first, id.tail) ||
          RoundWithin(groups_[head_in_first ? pair[0] : pair[1]], lanes_, id.head, id.tail) == round) {
        planned.cells.push_back(id);
      }
    }
    if (planned.cells.empty()) continue;
    std::ranges::sort(planned.cells);
    planned.first_group = first;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      if (in_memory[set]) planned.resident.insert(planned.resident.end(), sets[set].begin(), sets[set].end());
    }
    planned.resident = Sorted(std::move(planned.resident));
    states.push_back(std::move(planned));
  }
  turn.end_state = states.size();
  plan_.turns.push_back(turn);
}

// Sets what leaves and enters between states. Memory has room for a partition in flight within a turn only.
void LanePlanner::SetExchanges(std::vector<DraftState>& states) {
  Partitions all;
  for (const Partitions& group : groups_) all.insert(all.end(), group.begin(), group.end());
  all = Sorted(std::move(all));
  if (hold_all_) {
    for (DraftState& state : states) state.negatives = std::exchange(state.resident, all);
    return;
  }
  const std::size_t in_flight = LargestPartition(LargestLane(edges_.partitions(), lanes_), shape_.partitions);
  std::size_t turn = 1;  // the next
  for (std::size_t s = 1; s < states.size(); ++s) {
    const bool begins_turn = turn < plan_.turns.size() && plan_.turns[turn].first_state == s;
    if (begins_turn) ++turn;
    DraftState& before = states[s - 1];
    DraftState& state = states[s];
    state.entering = Without(state.resident, before.resident);
    state.ahead = ahead_ && !begins_turn && shape_.partitions > 1 && state.entering.size() <= in_flight;
    if (!state.ahead && before.ahead) {
      KeepForNext(before, state.resident);
      state.entering = Without(state.resident, before.resident);
    }
    state.leaving = Without(before.resident, state.resident);
    if (!state.entering.empty()) ++plan_.exchanges;
  }
}

// Nothing enters ahead while `state` trains, so of what its exchange takes out of memory, that which the next state
// needs stays.
void LanePlanner::KeepForNext(DraftState& state, const std::vector<PartitionId>& needed) {
  Partitions kept;
  std::ranges::set_intersection(state.leaving, needed, std::back_inserter(kept));
  if (kept.empty()) return;
  state.leaving = Without(state.leaving, kept);
  state.negatives = state.resident;
  state.resident.insert(state.resident.end(), kept.begin(), kept.end());
  std::ranges::sort(state.resident);
}

std::unique_ptr<EpochPlans> MakeEpochPlans(const CellReader& cells, const PlannerSettings& settings) {
  if (settings.lanes > 1) {
    return std::make_unique<LanePlanner>(PartitionEdges(cells), settings.lanes, settings.shape, settings.order,
                                         settings.seed, settings.hold_all, settings.ahead);
  }
  return std::make_unique<EpochPlanner>(cells.header().partition_count, settings.shape, settings.order, settings.seed,
                                        settings.first_epoch, settings.ahead);
}

}  // namespace octavo
