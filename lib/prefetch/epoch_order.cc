#include "prefetch/epoch_order.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "format/cells.h"

namespace octavo {
namespace {

std::uint64_t CountOf(std::uint64_t edges, std::uint64_t size) { return edges / size + (edges % size != 0 ? 1 : 0); }

// The first block of each cell, cells row by row; an additional element marks the end.
std::vector<std::uint32_t> FirstBlocks(const CellReader& cells) {
  const std::size_t partitions = cells.header().partition_count;
  std::vector<std::uint32_t> first(partitions * partitions + 1);
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    const BlockRecord& record = cells.block(block);
    ++first[record.head_partition * partitions + record.tail_partition + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  return first;
}

}  // namespace

OrderSizes SizesFor(const OrderSettings& settings, std::uint64_t edges) {
  const std::uint64_t batch = settings.batch_edges;
  // Larger sizes than the graph would only overflow.
  const auto whole_batches = [&](std::uint64_t size) {
    return std::max<std::uint64_t>(1, CountOf(std::min(size, edges), batch)) * batch;
  };
  const std::uint64_t pool = whole_batches(settings.pool_edges);
  return {.pool_edges = pool, .window_edges = std::min(pool, whole_batches(settings.window_edges))};
}

EpochOrder::EpochOrder(const CellReader& cells, const OrderSettings& settings, std::uint64_t epoch,
                       const EpochPlan& plan)
    : cells_(cells),
      epoch_(epoch),
      batch_edges_(settings.batch_edges),
      sizes_(SizesFor(settings, cells.edge_count())),
      windows_per_pool_(CountOf(sizes_.pool_edges, sizes_.window_edges)),
      entries_per_edge_(settings.EntriesPerEdge()),
      states_(1) {
  const std::vector<std::uint32_t> first_of_cell = FirstBlocks(cells);
  const std::size_t partitions = cells.header().partition_count;
  // Exactly, as there can be hundreds of thousands: growth would take twice as much.
  states_.reserve(plan.states.size() + 1);
  pools_.reserve(plan.states.size() + cells.edge_count() / sizes_.pool_edges);
  blocks_.reserve(cells.block_count());
  for (std::size_t s = 0; s < plan.states.size(); ++s) {
    const std::size_t first_block = blocks_.size();
    for (const CellId& cell : plan.states[s].cells) {
      const std::size_t index = Value(cell.head) * partitions + Value(cell.tail);
      for (std::uint32_t b = first_of_cell[index]; b < first_of_cell[index + 1]; ++b) blocks_.push_back(b);
    }
    RandomStream stream(settings.seed, RandomPurpose::kBlockOrder, static_cast<std::uint32_t>(epoch), s);
    Shuffle(std::span(blocks_).subspan(first_block), stream);
    EndState(first_block);
  }
}

// Ends a state: its blocks are those from `first_block` on.
void EpochOrder::EndState(std::size_t first_block) {
  StateBegin next = states_.back();
  std::uint64_t edges = 0;       // of the state, before block i
  std::uint64_t pool_begin = 0;  // of the next pool
  for (std::size_t i = first_block; i < blocks_.size(); ++i) {
    const std::uint64_t end = edges + cells_.block(blocks_[i]).edges;
    for (; pool_begin < end; pool_begin += sizes_.pool_edges) {
      pools_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(pool_begin - edges)});
    }
    edges = end;
  }
  next.first_edge += edges;
  const std::uint64_t rest = edges % sizes_.pool_edges;
  next.first_pool += CountOf(edges, sizes_.pool_edges);
  next.first_window += edges / sizes_.pool_edges * windows_per_pool_ + CountOf(rest, sizes_.window_edges);
  next.first_batch += CountOf(edges, batch_edges_);
  states_.push_back(next);
}

// The state that has item `index` of the kind that `first` counts; never one without such items.
std::size_t EpochOrder::StateWith(std::uint64_t index, std::uint64_t StateBegin::*first) const {
  const auto after = std::upper_bound(states_.begin(), states_.end(), index,
                                      [first](std::uint64_t i, const StateBegin& state) { return i < state.*first; });
  return static_cast<std::size_t>(after - states_.begin()) - 1;
}

std::size_t EpochOrder::StateOf(std::uint64_t batch) const { return StateWith(batch, &StateBegin::first_batch); }

std::size_t EpochOrder::StateOfWindow(std::uint64_t window) const {
  return StateWith(window, &StateBegin::first_window);
}

EpochOrder::BatchPlace EpochOrder::PlaceOf(std::uint64_t batch) const {
  const std::size_t state = StateOf(batch);
  const std::uint64_t edges = states_[state + 1].first_edge - states_[state].first_edge;
  const std::uint64_t first = (batch - states_[state].first_batch) * batch_edges_;
  const std::uint64_t in_pool = first % sizes_.pool_edges;
  return {.window = states_[state].first_window + first / sizes_.pool_edges * windows_per_pool_ +
                    in_pool / sizes_.window_edges,
          .first = in_pool % sizes_.window_edges * entries_per_edge_,
          .entries = std::min(batch_edges_, edges - first) * entries_per_edge_};
}

EpochOrder::EdgeRange EpochOrder::EdgesOfPool(std::uint64_t pool) const {
  const std::size_t state = StateWith(pool, &StateBegin::first_pool);
  const std::uint64_t begin = states_[state].first_edge + (pool - states_[state].first_pool) * sizes_.pool_edges;
  return {begin, std::min(begin + sizes_.pool_edges, states_[state + 1].first_edge)};
}

EpochOrder::WindowPlace EpochOrder::PlaceOfWindow(std::uint64_t window) const {
  const StateBegin& state = states_[StateWith(window, &StateBegin::first_window)];
  const std::uint64_t pool = state.first_pool + (window - state.first_window) / windows_per_pool_;
  const std::uint64_t first = (window - state.first_window) % windows_per_pool_ * sizes_.window_edges;
  const EdgeRange edges = EdgesOfPool(pool);
  return {.pool = pool,
          .first = first * entries_per_edge_,
          .entries = std::min(sizes_.window_edges, edges.end - edges.begin - first) * entries_per_edge_,
          .pool_entries = (edges.end - edges.begin) * entries_per_edge_};
}

std::vector<EpochOrder::BlockPart> EpochOrder::PartsOfPool(std::uint64_t pool) const {
  const auto [begin, end] = EdgesOfPool(pool);
  std::vector<BlockPart> parts;
  std::uint32_t first = pools_[pool].skipped;
  std::uint64_t left = end - begin;
  for (std::size_t i = pools_[pool].block; left > 0; ++i) {
    const std::uint64_t edges = std::min<std::uint64_t>(cells_.block(blocks_[i]).edges - first, left);
    parts.push_back({blocks_[i], first, static_cast<std::uint32_t>(edges)});
    left -= edges;
    first = 0;
  }
  return parts;
}

}  // namespace octavo
