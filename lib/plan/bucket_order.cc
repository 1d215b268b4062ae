#include "plan/bucket_order.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

namespace octavo {
namespace {

struct Bucket {
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
};

// The units of partition p are [first[p], first[p + 1]).
std::vector<std::uint32_t> FirstUnits(std::span<const std::uint32_t> units) {
  std::vector<std::uint32_t> first(units.size() + 1);
  std::partial_sum(units.begin(), units.end(), first.begin() + 1);
  return first;
}

// Calls `visit` with each cell of a bucket.
template <typename Visit>
void ForEachCell(const Bucket& bucket, const std::vector<std::uint32_t>& first_units, Visit visit) {
  for (std::uint32_t head = first_units[bucket.head]; head < first_units[bucket.head + 1]; ++head) {
    for (std::uint32_t tail = first_units[bucket.tail]; tail < first_units[bucket.tail + 1]; ++tail) {
      visit(UnitCell{head, tail});
    }
  }
}

// The exchanges of the BETA order. Random where the algorithm leaves a choice.
std::vector<Exchange> BetaSequence(std::uint32_t partitions, std::uint32_t resident, RandomStream& random) {
  std::vector<std::uint32_t> in_memory(resident);
  std::iota(in_memory.begin(), in_memory.end(), 0U);
  std::vector<std::uint32_t> on_disk(partitions - resident);
  std::iota(on_disk.begin(), on_disk.end(), resident);
  std::vector<Exchange> sequence;
  sequence.reserve(BetaExchanges(partitions, resident));
  while (!on_disk.empty()) {
    Shuffle(std::span(in_memory), random);
    Shuffle(std::span(on_disk), random);
    for (std::uint32_t& next : on_disk) {
      sequence.push_back({.leaves = in_memory.back(), .enters = next});
      std::swap(in_memory.back(), next);
    }
    Shuffle(std::span(on_disk), random);
    // The partitions that stayed have met every other partition and are done.
    const std::size_t replaced = std::min<std::size_t>(resident - 1, on_disk.size());
    for (std::size_t i = 0; i < replaced; ++i) {
      sequence.push_back({.leaves = in_memory[i], .enters = on_disk[i]});
      in_memory[i] = on_disk[i];
    }
    on_disk.erase(on_disk.begin(), on_disk.begin() + static_cast<std::ptrdiff_t>(replaced));
  }
  return sequence;
}

// States as bits.
using StateSet = std::vector<std::uint64_t>;

// For each partition, the states that hold it.
std::vector<StateSet> StatesHolding(const std::vector<Exchange>& sequence, std::uint32_t partitions,
                                    std::uint32_t resident) {
  const std::size_t states = sequence.size() + 1;
  std::vector<StateSet> holding(partitions, StateSet((states + 63) / 64));
  std::vector<std::uint32_t> in_memory(resident);
  std::iota(in_memory.begin(), in_memory.end(), 0U);
  for (std::size_t s = 0; s < states; ++s) {
    if (s > 0) std::ranges::replace(in_memory, sequence[s - 1].leaves, sequence[s - 1].enters);
    for (const std::uint32_t p : in_memory) holding[p][s / 64] |= std::uint64_t{1} << s % 64;
  }
  return holding;
}

// Lists the states in both sets, ascending.
void ListCommon(const StateSet& a, const StateSet& b, std::vector<std::uint32_t>& common) {
  common.clear();
  for (std::size_t word = 0; word < a.size(); ++word) {
    for (std::uint64_t bits = a[word] & b[word]; bits != 0; bits &= bits - 1) {
      common.push_back(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

// Draws the state of each cell, row by row of buckets, among those that hold both its partitions.
std::vector<std::uint32_t> DrawStates(const std::vector<Exchange>& sequence,
                                      const std::vector<std::uint32_t>& first_units, std::uint32_t resident,
                                      RandomStream& random) {
  const auto partitions = static_cast<std::uint32_t>(first_units.size() - 1);
  const std::vector<StateSet> holding = StatesHolding(sequence, partitions, resident);
  std::vector<std::uint32_t> drawn;
  drawn.reserve(std::size_t{first_units.back()} * first_units.back());
  std::vector<std::uint32_t> both;
  for (std::uint32_t head = 0; head < partitions; ++head) {
    for (std::uint32_t tail = 0; tail < partitions; ++tail) {
      ListCommon(holding[head], holding[tail], both);
      ForEachCell({head, tail}, first_units,
                  [&](const UnitCell&) { drawn.push_back(both[random.Below(both.size())]); });
    }
  }
  return drawn;
}

StateSequence SpreadCells(std::vector<Exchange> sequence, std::span<const std::uint32_t> units, std::uint32_t resident,
                          RandomStream& random) {
  const std::vector<std::uint32_t> first_units = FirstUnits(units);
  const std::vector<std::uint32_t> drawn = DrawStates(sequence, first_units, resident, random);
  StateSequence states;
  // Counts, then places: afterwards the element after a state's is where the state ends.
  states.first_cell.resize(sequence.size() + 3);
  for (const std::uint32_t state : drawn) ++states.first_cell[state + 2];
  std::partial_sum(states.first_cell.begin(), states.first_cell.end(), states.first_cell.begin());
  states.cells.resize(drawn.size());
  std::size_t at = 0;
  for (std::uint32_t head = 0; head < units.size(); ++head) {
    for (std::uint32_t tail = 0; tail < units.size(); ++tail) {
      ForEachCell({head, tail}, first_units,
                  [&](const UnitCell& cell) { states.cells[states.first_cell[drawn[at++] + 1]++] = cell; });
    }
  }
  states.first_cell.pop_back();
  states.exchanges = std::move(sequence);
  return states;
}

std::vector<Bucket> InsideOutSequence(std::uint32_t partitions, RandomStream& random) {
  std::vector<Bucket> sequence;
  for (std::uint32_t layer = 0; layer < partitions; ++layer) {
    // Back and forth: a layer begins with the partitions that ended the previous layer.
    for (std::uint32_t i = 0; i < layer; ++i) {
      const std::uint32_t other = layer % 2 == 0 ? i : layer - 1 - i;
      const bool head_first = random.Below(2) == 0;
      sequence.push_back(head_first ? Bucket{layer, other} : Bucket{other, layer});
      sequence.push_back(head_first ? Bucket{other, layer} : Bucket{layer, other});
    }
    sequence.push_back({layer, layer});
  }
  return sequence;
}

std::vector<Bucket> RandomSequence(std::uint32_t partitions, RandomStream& random) {
  std::vector<Bucket> sequence;
  for (std::uint32_t head = 0; head < partitions; ++head) {
    for (std::uint32_t tail = 0; tail < partitions; ++tail) sequence.push_back({head, tail});
  }
  Shuffle(std::span(sequence), random);
  return sequence;
}

// Simulates memory under Belady's rule for a known sequence of buckets.
class BeladyMemory {
 public:
  BeladyMemory(const std::vector<Bucket>& sequence, std::uint32_t partitions, std::uint32_t resident)
      : uses_(partitions), next_use_(partitions), in_memory_(partitions) {
    for (std::size_t at = 0; at < sequence.size(); ++at) {
      uses_[sequence[at].head].push_back(at);
      if (sequence[at].tail != sequence[at].head) uses_[sequence[at].tail].push_back(at);
    }
    std::fill_n(in_memory_.begin(), resident, true);
  }

  // Makes room for the partitions of bucket `at` and returns the exchanges.
  std::vector<Exchange> Admit(std::size_t at, const Bucket& bucket) {
    std::vector<Exchange> exchanges;
    for (const std::uint32_t wanted : {bucket.head, bucket.tail}) {
      if (in_memory_[wanted]) continue;
      exchanges.push_back({.leaves = NeededLast(at, bucket), .enters = wanted});
      in_memory_[exchanges.back().leaves] = false;
      in_memory_[wanted] = true;
    }
    return exchanges;
  }

 private:
  // Returns the partition in memory, not of `bucket`, whose next use after `at` is farthest.
  std::uint32_t NeededLast(std::size_t at, const Bucket& bucket) {
    std::uint32_t last = 0;
    std::size_t farthest = 0;
    bool found = false;
    for (std::uint32_t p = 0; p < in_memory_.size(); ++p) {
      if (!in_memory_[p] || p == bucket.head || p == bucket.tail) continue;
      const std::size_t use = NextUse(p, at);
      if (found && use <= farthest) continue;
      found = true;
      last = p;
      farthest = use;
    }
    return last;
  }

  std::size_t NextUse(std::uint32_t partition, std::size_t at) {
    std::size_t& next = next_use_[partition];
    while (next < uses_[partition].size() && uses_[partition][next] <= at) ++next;
    return next < uses_[partition].size() ? uses_[partition][next] : ~std::size_t{0};
  }

  std::vector<std::vector<std::size_t>> uses_;  // by partition: positions in the sequence, ascending
  std::vector<std::size_t> next_use_;           // index into uses_
  std::vector<bool> in_memory_;
};

StateSequence ReplaySequence(const std::vector<Bucket>& sequence, std::span<const std::uint32_t> units,
                             std::uint32_t resident) {
  const std::vector<std::uint32_t> first_units = FirstUnits(units);
  BeladyMemory memory(sequence, static_cast<std::uint32_t>(units.size()), resident);
  StateSequence states;
  states.first_cell.push_back(0);
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    for (const Exchange& exchange : memory.Admit(at, sequence[at])) {
      states.exchanges.push_back(exchange);
      states.first_cell.push_back(static_cast<std::uint32_t>(states.cells.size()));
    }
    ForEachCell(sequence[at], first_units, [&](const UnitCell& cell) { states.cells.push_back(cell); });
  }
  states.first_cell.push_back(static_cast<std::uint32_t>(states.cells.size()));
  return states;
}

}  // namespace

StateSequence MakeBucketOrder(BucketOrder order, std::span<const std::uint32_t> units, std::uint32_t resident,
                              RandomStream random) {
  const auto partitions = static_cast<std::uint32_t>(units.size());
  if (order == BucketOrder::kBeta) {
    return SpreadCells(BetaSequence(partitions, resident, random), units, resident, random);
  }
  const std::vector<Bucket> sequence =
      order == BucketOrder::kInsideOut ? InsideOutSequence(partitions, random) : RandomSequence(partitions, random);
  return ReplaySequence(sequence, units, resident);
}

std::uint64_t BetaExchanges(std::uint32_t partitions, std::uint32_t resident) {
  if (partitions <= resident) return 0;
  const std::uint64_t first = partitions - resident;
  const std::uint64_t rounds = first / (resident - 1);
  return first + (rounds + 1) * first - (resident - 1) * rounds * (rounds + 1) / 2;
}

std::uint64_t LeastExchanges(std::uint32_t partitions, std::uint32_t resident) {
  if (partitions <= resident) return 0;
  const auto pairs = [](std::uint64_t n) { return n * (n - 1) / 2; };
  const std::uint64_t missing = pairs(partitions) - pairs(resident);
  return (missing + resident - 2) / (resident - 1);
}

}  // namespace octavo
