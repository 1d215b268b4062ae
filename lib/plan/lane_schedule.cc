#include "plan/lane_schedule.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace octavo {
namespace {

// Lanes [first, first + stay.size()) hold stay[i] and move[i]. Adds what they hold in the rounds from `round` on.
void AddRounds(std::span<const std::uint32_t> stay, std::span<const std::uint32_t> move, std::size_t first,
               std::size_t round, std::vector<LaneRound>& rounds) {
  const std::size_t lanes = stay.size();
  const auto moved = [&](std::size_t lane, std::size_t steps) { return move[(lane + steps) % lanes]; };
  for (std::size_t step = 0; step < lanes; ++step) {
    for (std::size_t i = 0; i < lanes; ++i) rounds[round + step][first + i] = {stay[i], moved(i, step)};
  }
  if (lanes == 1) return;
  // The first half of the lanes takes over the groups that stayed, the second those that moved. Each lane keeps one of
  // the two that it has and exchanges the other with the lane at the same place of the other half.
  const std::size_t half = lanes / 2;
  std::vector<std::uint32_t> kept;
  std::vector<std::uint32_t> taken;
  for (std::size_t i = 0; i < half; ++i) {
    kept.push_back(moved(half + i, lanes - 1));
    taken.push_back(moved(i, lanes - 1));
  }
  AddRounds(stay.first(half), stay.last(half), first, round + lanes, rounds);
  AddRounds(kept, taken, first + half, round + lanes, rounds);
}

// Edges between each two groups, [group of the head * groups + group of the tail].
std::vector<std::uint64_t> EdgesBetween(const PartitionEdges& edges, const LaneGroups& groups) {
  std::vector<std::size_t> group_of(edges.partitions());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const PartitionId partition : groups[g]) group_of[Value(partition)] = g;
  }
  std::vector<std::uint64_t> between(groups.size() * groups.size());
  for (std::uint32_t head = 0; head < edges.partitions(); ++head) {
    for (std::uint32_t tail = 0; tail < edges.partitions(); ++tail) {
      between[group_of[head] * groups.size() + group_of[tail]] += edges.at(head, tail);
    }
  }
  return between;
}

// Edges within each group by the round that they are trained in, [round * groups + group].
std::vector<std::uint64_t> EdgesWithin(const PartitionEdges& edges, const LaneGroups& groups) {
  const auto lanes = static_cast<std::uint32_t>(groups.size() / 2);
  std::vector<std::uint64_t> within((groups.size() - 1) * groups.size());
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (const PartitionId head : groups[g]) {
      for (const PartitionId tail : groups[g]) {
        within[RoundWithin(groups[g], lanes, head, tail) * groups.size() + g] += edges.at(Value(head), Value(tail));
      }
    }
  }
  return within;
}

// One draw. `degrees` has the edges of each partition, as heads and as tails.
LaneGroups DrawOnce(std::span<const std::uint64_t> degrees, std::uint32_t lanes, RandomStream& random) {
  const std::size_t most = LargestLaneGroup(static_cast<std::uint32_t>(degrees.size()), lanes);
  // Up to twice the edges: partitions of about as many change places, a much larger one still comes first.
  std::vector<double> keys;
  for (const std::uint64_t degree : degrees) {
    keys.push_back((static_cast<double>(degree) + 1) * (1 + double{random.NextFloat()}));
  }
  std::vector<std::uint32_t> order(degrees.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  LaneGroups groups(2 * std::size_t{lanes});
  std::vector<std::uint64_t> load(groups.size());
  for (const std::uint32_t partition : order) {
    std::size_t least = groups.size();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].size() == most) continue;
      // Of equal ones the group with fewer partitions, so that none stays empty.
      if (least == groups.size() || load[g] < load[least] ||
          (load[g] == load[least] && groups[g].size() < groups[least].size())) {
        least = g;
      }
    }
    groups[least].push_back(static_cast<PartitionId>(partition));
    load[least] += degrees[partition];
  }
  for (std::vector<PartitionId>& group : groups) std::ranges::sort(group);
  Shuffle(std::span(groups), random);
  return groups;
}

std::uint32_t DrawBelow(std::size_t end, RandomStream& random) {
  return static_cast<std::uint32_t>((std::uint64_t{random.Next32()} * end) >> 32);
}

// Moves a partition from one group to another at random; one of the other takes its place, or none if there is room.
void ExchangeTwo(std::size_t most, RandomStream& random, LaneGroups& groups) {
  std::vector<PartitionId>& from = groups[DrawBelow(groups.size(), random)];
  std::vector<PartitionId>& to = groups[DrawBelow(groups.size(), random)];
  PartitionId& moved = from[DrawBelow(from.size(), random)];
  const std::size_t place = DrawBelow(to.size() < most ? to.size() + 1 : to.size(), random);
  if (place < to.size()) {
    std::swap(moved, to[place]);
  } else if (&from != &to && from.size() > 1) {
    to.push_back(moved);
    moved = from.back();
    from.pop_back();
  }
  std::ranges::sort(from);
  std::ranges::sort(to);
}

// Tries exchanges of partitions and keeps those that make the work more even; fewer of them where each takes longer.
void Improve(const PartitionEdges& edges, std::uint32_t lanes, RandomStream& random, LaneGroups& groups,
             double balance) {
  constexpr std::uint64_t kMostTries = 4000;
  constexpr std::uint64_t kWork = std::uint64_t{1} << 25;  // a few hundredths of a second
  constexpr double kEven = 0.995;
  const std::uint64_t work = std::uint64_t{edges.partitions()} * edges.partitions() + 2 * std::uint64_t{lanes} * lanes;
  const std::size_t most = LargestLaneGroup(edges.partitions(), lanes);
  for (std::uint64_t tries = std::min(kMostTries, kWork / work); tries > 0 && balance < kEven; --tries) {
    LaneGroups other = groups;
    ExchangeTwo(most, random, other);
    const double others = LaneBalance(edges, other);
    if (others <= balance) continue;
    groups = std::move(other);
    balance = others;
  }
}

}  // namespace

PartitionEdges::PartitionEdges(const CellReader& cells) : PartitionEdges(cells.header().partition_count) {
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    const BlockRecord& record = cells.block(block);
    at(record.head_partition, record.tail_partition) += record.edges;
  }
}

std::vector<LaneRound> MakeLaneRounds(std::uint32_t lanes) {
  std::vector<std::uint32_t> groups(2 * std::size_t{lanes});
  std::iota(groups.begin(), groups.end(), 0U);
  std::vector<LaneRound> rounds(groups.size() - 1, LaneRound(lanes));
  AddRounds(std::span(groups).first(lanes), std::span(groups).last(lanes), 0, 0, rounds);
  return rounds;
}

// At even distances, and for groups of one size in the same rounds, so that lanes have equal work. Diagonal by
// diagonal, so that the cells of one head partition, and those of one tail partition, are far apart.
std::uint32_t RoundWithin(const std::vector<PartitionId>& group, std::uint32_t lanes, PartitionId head,
                          PartitionId tail) {
  const auto place = [&](PartitionId partition) {
    return static_cast<std::size_t>(std::ranges::lower_bound(group, partition) - group.begin());
  };
  const std::size_t size = group.size();
  const std::size_t cell = (place(tail) + size - place(head)) % size * size + place(head);
  return static_cast<std::uint32_t>(cell * (2 * std::size_t{lanes} - 1) / (size * size));
}

std::uint32_t LargestLaneGroup(std::uint32_t fine_partitions, std::uint32_t lanes) {
  return (fine_partitions + 2 * lanes - 1) / (2 * lanes);
}

std::uint32_t LargestLane(std::uint32_t fine_partitions, std::uint32_t lanes) {
  return std::min(fine_partitions, 2 * LargestLaneGroup(fine_partitions, lanes));
}

LaneGroups DrawLaneGroups(const PartitionEdges& edges, std::uint32_t lanes, std::uint64_t seed, std::uint64_t epoch) {
  constexpr std::uint64_t kDraws = 4;  // more would favour the same few groups
  std::vector<std::uint64_t> degrees(edges.partitions());
  for (std::uint32_t head = 0; head < edges.partitions(); ++head) {
    for (std::uint32_t tail = 0; tail < edges.partitions(); ++tail) {
      degrees[head] += edges.at(head, tail);
      degrees[tail] += edges.at(head, tail);
    }
  }
  LaneGroups best;
  double best_balance = -1;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    RandomStream random(seed, RandomPurpose::kLaneGroups, static_cast<std::uint32_t>(epoch), draw);
    LaneGroups groups = DrawOnce(degrees, lanes, random);
    const double balance = LaneBalance(edges, groups);
    if (balance <= best_balance) continue;
    best = std::move(groups);
    best_balance = balance;
  }
  RandomStream random(seed, RandomPurpose::kLaneGroups, static_cast<std::uint32_t>(epoch), kDraws);
  Improve(edges, lanes, random, best, best_balance);
  return best;
}

double LaneBalance(const PartitionEdges& all_edges, const LaneGroups& groups) {
  const std::vector<std::uint64_t> between = EdgesBetween(all_edges, groups);
  const std::vector<std::uint64_t> within = EdgesWithin(all_edges, groups);
  const std::size_t lanes = groups.size() / 2;
  const std::vector<LaneRound> rounds = MakeLaneRounds(static_cast<std::uint32_t>(lanes));
  std::uint64_t all = 0;
  std::uint64_t slowest = 0;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::uint64_t most = 0;
    for (const auto& [a, b] : rounds[round]) {
      const std::uint64_t edges = between[a * groups.size() + b] + between[b * groups.size() + a] +
                                  within[round * groups.size() + a] + within[round * groups.size() + b];
      all += edges;
      most = std::max(most, edges);
    }
    slowest += most;
  }
  return slowest == 0 ? 1 : static_cast<double>(all) / static_cast<double>(slowest * lanes);
}

}  // namespace octavo
