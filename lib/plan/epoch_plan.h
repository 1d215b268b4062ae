// What an epoch loads, trains and writes back, in fine partitions and cells of the graph.
//
// A memory budget combines the fine partitions of the import into `partitions` partitions of about the same size,
// `resident` of which are in memory. They are drawn anew for each epoch (COMET, Waleffe et al., EuroSys 2023), so
// that any two nodes meet in some epoch. Each epoch starts with the partitions in memory that the previous one ended
// with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "plan/bucket_order.h"

namespace octavo {

// How a run divides its tables. {1, 1} means all in memory.
struct PartitionShape {
  std::uint32_t partitions = 1;
  std::uint32_t resident = 1;

  bool WholeGraph() const { return resident >= partitions; }
  friend bool operator==(const PartitionShape&, const PartitionShape&) = default;
};

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
  class Iterator;

  PlannedStates() = default;

  bool empty() const { return size() == 0; }
  std::size_t size() const { return end_ - first_; }
  // REQUIRES: s < size()
  PlannedState operator[](std::size_t s) const;
  PlannedState back() const { return (*this)[size() - 1]; }
  Iterator begin() const;
  Iterator end() const;

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

class PlannedStates::Iterator {
 public:
  using value_type = PlannedState;
  using difference_type = std::ptrdiff_t;

  Iterator() = default;
  Iterator(const PlannedStates* states, std::size_t at) : states_(states), at_(at) {}

  PlannedState operator*() const { return (*states_)[at_]; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  Iterator operator++(int) { return Iterator(states_, at_++); }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const PlannedStates* states_ = nullptr;
  std::size_t at_ = 0;
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

// The states [first_state, end_state) that a lane trains in a round (plan/lane_schedule.h).
struct LaneTurn {
  std::uint32_t round = 0;  // of the epoch
  std::uint32_t lane = 0;
  std::size_t first_state = 0;
  std::size_t end_state = 0;
};

struct EpochPlan {
  PlannedStates states;
  std::uint64_t exchanges = 0;  // states, except the first, that partitions enter
  std::vector<LaneTurn> turns;  // of lanes, round by round; empty without lanes
  bool ahead = true;            // whether partitions may enter a state while the previous one trains
};

// The plans of consecutive epochs. One owner.
class EpochPlans {
 public:
  virtual ~EpochPlans() = default;
  // Returns the plan of epoch `epoch`, valid until the next call; copies of it stay valid.
  virtual const EpochPlan& Plan(std::uint64_t epoch) = 0;
};

// Those of a training without lanes. One owner.
class EpochPlanner : public EpochPlans {
 public:
  // For `fine_partitions` of the graph, divided by `shape` since epoch `first_epoch`. Without `ahead`, partitions enter
  // when those that leave have left.
  // REQUIRES: fine_partitions >= shape.partitions >= shape.resident >= 1; resident >= 2 if partitions > 1
  EpochPlanner(std::uint32_t fine_partitions, const PartitionShape& shape, BucketOrder order, std::uint64_t seed,
               std::uint64_t first_epoch = 0, bool ahead = true);

  // Returns the plan of epoch `epoch`, valid until the next call. It depends only on the epoch and the constructor's
  // arguments. Plans skipped epochs too, so call in ascending order. REQUIRES: epoch >= first_epoch
  const EpochPlan& Plan(std::uint64_t epoch) override;

 private:
  std::vector<std::vector<PartitionId>> DrawPartitions(std::uint64_t epoch) const;
  void MakePlan(std::uint64_t epoch);

  const std::uint32_t fine_partitions_;
  const PartitionShape shape_;
  const BucketOrder order_;
  const std::uint64_t seed_;
  const std::uint64_t first_epoch_;
  const bool ahead_;
  std::vector<PartitionId> carried_;  // in memory when the next epoch begins; empty at first_epoch_
  std::uint64_t epoch_ = 0;           // of plan_
  bool planned_ = false;
  EpochPlan plan_;
};

// Bytes between disk and memory.
struct Traffic {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};

// Returns the bytes that the tables move from state `first_state` on, for which `first_loads` are loaded. Leaving
// partitions are written; so are resident ones at the end of the epoch, by the commit. `bytes_of` returns the size of a
// partition.
Traffic PlannedTraffic(const EpochPlan& plan, const std::function<std::uint64_t(PartitionId)>& bytes_of,
                       std::size_t first_state, std::span<const PartitionId> first_loads);

// The number of fine partitions in the largest partition.
std::uint32_t LargestPartition(std::uint32_t fine_partitions, std::uint32_t partitions);

// The most partitions that the lists of so many states have, without lanes.
std::uint64_t PartitionsListed(std::uint32_t fine_partitions, const PartitionShape& shape, std::uint64_t states);

}  // namespace octavo
