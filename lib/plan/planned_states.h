// The states of an epoch: which fine partitions each has in memory, and which cells it trains. All states are in three
// arrays, which copies share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"

namespace octavo {

// The cell of edges from a node of fine partition `head` to one of `tail`.
struct CellId {
  PartitionId head{};
  PartitionId tail{};
  friend auto operator<=>(const CellId&, const CellId&) = default;
};

// Those of `all` that are not in `some`. Both ascend, and so does the result.
std::vector<PartitionId> Without(std::span<const PartitionId> all, std::span<const PartitionId> some);

// A state of a plan. `Lists` is the type of its lists, which ascend.
template <template <typename> typename Lists>
struct StateOf {
  // Relative to the previous state; both empty for the first state of an epoch.
  Lists<PartitionId> leaving;
  Lists<PartitionId> entering;
  Lists<PartitionId> resident;  // all in memory
  Lists<CellId> cells;          // trained in this state; may be empty
  // Those whose nodes may be negatives; empty: all that are resident.
  Lists<PartitionId> negatives;
  // With lanes: the partitions of one of the lane's two groups. How an edge is compared with its negatives depends on
  // it (model/group_adjustment.h).
  Lists<PartitionId> first_group;
  // Whether the entering partitions may come in while the previous state trains. Otherwise memory is only large enough
  // for the partitions of either state.
  bool ahead = true;

  Lists<PartitionId> NegativePartitions() const { return negatives.empty() ? resident : negatives; }
};

template <typename Item>
using ListView = std::span<const Item>;
template <typename Item>
using OwnList = std::vector<Item>;

// Refers to the lists of a plan, and is valid as long as they are.
using PlannedState = StateOf<ListView>;
// While a plan is made.
using DraftState = StateOf<OwnList>;
PlannedState ViewOf(const DraftState& draft);
DraftState CopyOf(const PlannedState& state);

// Constant. Copies share the lists: with 512 partitions a plan of up to 131,000 states takes megabytes.
class PlannedStates {
 public:
  class Maker;

  PlannedStates() = default;

  bool empty() const { return size() == 0; }
  std::size_t size() const { return end_ - first_; }
  // REQUIRES: s < size()
  PlannedState operator[](std::size_t s) const;
  PlannedState back() const { return (*this)[size() - 1]; }

  // The states from `first` on. REQUIRES: first <= size()
  PlannedStates From(std::size_t first) const;

  // The most bytes of a plan of so many states and cells, with so many partitions in all lists together.
  static std::uint64_t Bytes(std::uint64_t states, std::uint64_t cells, std::uint64_t partitions);

 private:
  // Where the lists of a state are: its partitions one list after another.
  struct Place {
    std::uint64_t first_partition = 0;
    std::uint32_t first_cell = 0;
    std::uint32_t cells = 0;
    std::uint16_t leaving = 0;
    std::uint16_t entering = 0;
    std::uint16_t resident = 0;
    std::uint16_t negatives = 0;
    std::uint16_t first_group = 0;
    bool ahead = true;
  };
  struct Storage {
    std::vector<Place> places;
    std::vector<PartitionId> partitions;
    std::vector<CellId> cells;
  };

  std::shared_ptr<const Storage> storage_;
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

// Collects the states of a plan in their order.
class PlannedStates::Maker {
 public:
  // For at most so many states and cells, and partitions in all lists together.
  Maker(std::size_t states, std::size_t cells, std::size_t partitions);
  // Copies the lists. REQUIRES: fewer than 65,536 partitions in each
  void Add(const PlannedState& state);
  PlannedStates Make();

 private:
  std::shared_ptr<Storage> storage_;
};

PlannedStates StatesOf(std::span<const DraftState> drafts);

}  // namespace octavo
