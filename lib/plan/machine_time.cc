#include "plan/machine_time.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace octavo {
namespace {

double SecondsOf(std::uint64_t bytes, double bytes_per_second) { return static_cast<double>(bytes) / bytes_per_second; }

}  // namespace

double EpochTimes::Hidden() const { return std::clamp(one_by_one - overlapped, 0.0, exchange); }

MachineTimes::MachineTimes(const LaneMachines& machines, std::uint32_t partitions, const MachineSpeed& speed,
                           MachineWork work)
    : machines_(machines),
      speed_(speed),
      work_(std::move(work)),
      clock_(machines.machines),
      sending_(machines.machines),
      receiving_(machines.machines),
      done_(partitions),
      arrived_(partitions),
      in_memory_(machines.machines) {}

EpochTimes MachineTimes::Add(const EpochPlan& plan) {
  EpochTimes times;
  times.compute.resize(machines_.machines);
  times.waited.resize(machines_.machines);
  const double begin = *std::ranges::max_element(clock_);
  const auto partitions = static_cast<std::uint32_t>(done_.size());
  const std::vector<PartitionPlaces> rounds = PlacesOfRounds(plan, machines_, partitions);
  std::size_t turn = 0;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    Move(MovesBetween(places_, rounds[round]), times);
    std::size_t end = turn;
    while (end < plan.turns.size() && plan.turns[end].round == round) ++end;
    Train(plan, turn, end, times);
    ExchangeRelations(times);
    places_ = rounds[round];
    turn = end;
  }
  Commit(times);
  times.overlapped = *std::ranges::max_element(clock_) - begin;
  times.one_by_one += times.exchange;
  for (std::uint32_t m = 0; m < machines_.machines; ++m) times.waited[m] = times.overlapped - times.compute[m];
  return times;
}

// Partitions leave in the order in which they are ready.
void MachineTimes::Move(std::vector<PartitionMove> moves, EpochTimes& times) {
  std::ranges::stable_sort(moves, [&](const PartitionMove& a, const PartitionMove& b) {
    return done_[Value(a.partition)] < done_[Value(b.partition)];
  });
  std::vector<MachineBytes> bytes(machines_.machines);
  for (const PartitionMove& move : moves) {
    const std::size_t p = Value(move.partition);
    const std::uint64_t size = work_.bytes_of(move.partition);
    const double begin = std::max({done_[p], sending_[move.from], receiving_[move.to]});
    arrived_[p] = begin + SecondsOf(size, speed_.network);
    sending_[move.from] = receiving_[move.to] = arrived_[p];
    bytes[move.from].partitions_sent += size;
    bytes[move.to].partitions_received += size;
  }
  std::uint64_t most = 0;
  for (const MachineBytes& of_one : bytes) most = std::max({most, of_one.Sent(), of_one.Received()});
  times.exchange += SecondsOf(most, speed_.network);
}

// The turns of one round.
void MachineTimes::Train(const EpochPlan& plan, std::size_t first_turn, std::size_t end_turn, EpochTimes& times) {
  std::vector<double> trained(machines_.machines);
  for (std::size_t t = first_turn; t < end_turn; ++t) {
    const LaneTurn& turn = plan.turns[t];
    const std::uint32_t machine = machines_.MachineOf(turn.lane);
    for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
      const PlannedState state = plan.states[s];
      for (const PartitionId p : state.NegativePartitions()) {
        clock_[machine] = std::max(clock_[machine], arrived_[Value(p)]);
      }
      const double seconds = StateSeconds(state, machine);
      clock_[machine] += seconds;
      trained[machine] += seconds;
      for (const PartitionId p : state.NegativePartitions()) done_[Value(p)] = clock_[machine];
    }
  }
  for (std::uint32_t m = 0; m < machines_.machines; ++m) times.compute[m] += trained[m];
  times.one_by_one += *std::ranges::max_element(trained);
}

double MachineTimes::StateSeconds(const PlannedState& state, std::uint32_t machine) {
  double edges = 0;
  for (const CellId& cell : state.cells) edges += work_.edges_of(cell);
  const double training = edges / speed_.edges;
  if (work_.lanes_in_memory) return training;
  const auto bytes_without = [&](std::span<const PartitionId> all, std::span<const PartitionId> some) {
    std::uint64_t bytes = 0;
    for (const PartitionId p : Without(all, some)) bytes += work_.bytes_of(p);
    return bytes;
  };
  std::vector<PartitionId>& before = in_memory_[machine];
  const std::span<const PartitionId> now = state.NegativePartitions();
  const double disk = SecondsOf(bytes_without(now, before), speed_.disk_read) +
                      SecondsOf(bytes_without(before, now), speed_.disk_write);
  before.assign(now.begin(), now.end());
  return state.ahead ? std::max(training, disk) : training + disk;
}

void MachineTimes::ExchangeRelations(EpochTimes& times) {
  if (work_.relation_bytes == 0) return;
  const std::uint64_t copies = machines_.lanes - machines_.LanesOf(0) + machines_.machines - 1;
  const double seconds = SecondsOf(copies * work_.relation_bytes, speed_.network);
  std::ranges::fill(clock_, *std::ranges::max_element(clock_) + seconds);
  times.exchange += seconds;
}

void MachineTimes::Commit(EpochTimes& times) {
  std::vector<std::uint64_t> bytes(machines_.machines);
  if (work_.lanes_in_memory) {
    for (std::size_t p = 0; p < places_.size(); ++p) bytes[places_[p]] += work_.bytes_of(static_cast<PartitionId>(p));
  } else {
    for (std::uint32_t m = 0; m < machines_.machines; ++m) {
      for (const PartitionId p : in_memory_[m]) bytes[m] += work_.bytes_of(p);
    }
  }
  double longest = 0;
  for (std::uint32_t m = 0; m < machines_.machines; ++m) {
    const double seconds = SecondsOf(bytes[m], speed_.disk_write);
    clock_[m] += seconds;
    times.compute[m] += seconds;
    longest = std::max(longest, seconds);
  }
  times.one_by_one += longest;
  std::ranges::fill(clock_, *std::ranges::max_element(clock_));
}

}  // namespace octavo
