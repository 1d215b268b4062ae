#include "prefetch/epoch_order.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "base/status.h"
#include "format/cells.h"

namespace octavo {
namespace {

std::uint64_t CountOf(std::uint64_t edges, std::uint64_t size) { return edges / size + (edges % size != 0 ? 1 : 0); }

// More than the graph has would change nothing but overflow.
std::uint64_t WholeBatches(std::uint64_t edges, std::uint64_t window_edges, std::uint64_t batch_edges) {
  return std::max<std::uint64_t>(1, CountOf(std::min(window_edges, edges), batch_edges)) * batch_edges;
}

}  // namespace

EpochOrder::EpochOrder(const CellReader& cells, std::uint64_t seed, std::uint64_t batch_edges,
                       std::uint64_t window_edges, std::optional<std::uint32_t> inverse_offset)
    : cells_(cells),
      seed_(seed),
      batch_edges_(batch_edges),
      window_edges_(WholeBatches(cells.edge_count(), window_edges, batch_edges)),
      states_(1) {
  if (inverse_offset) groups_.emplace(seed, *inverse_offset);
  const std::size_t partitions = cells.header().partition_count;
  first_of_cell_.resize(partitions * partitions + 1);
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    const BlockRecord& record = cells.block(block);
    ++first_of_cell_[record.head_partition * partitions + record.tail_partition + 1];
  }
  std::partial_sum(first_of_cell_.begin(), first_of_cell_.end(), first_of_cell_.begin());
}

void EpochOrder::SetEpoch(std::uint64_t epoch, const EpochPlan& plan) {
  epoch_ = epoch;
  blocks_.clear();
  first_edge_.clear();
  states_.assign(1, {});
  for (std::size_t s = 0; s < plan.states.size(); ++s) AddState(epoch, s, plan.states[s].cells);
}

void EpochOrder::AddState(std::uint64_t epoch, std::size_t state, std::span<const CellId> cells) {
  const std::size_t partitions = cells_.header().partition_count;
  const std::size_t first_block = blocks_.size();
  for (const CellId& cell : cells) {
    const std::size_t index = Value(cell.head) * partitions + Value(cell.tail);
    for (std::uint32_t b = first_of_cell_[index]; b < first_of_cell_[index + 1]; ++b) blocks_.push_back(b);
  }
  RandomStream stream(seed_, RandomPurpose::kBlockOrder, static_cast<std::uint32_t>(epoch), state);
  Shuffle(std::span(blocks_).subspan(first_block), stream);
  StateBegin next = states_.back();
  for (std::size_t i = first_block; i < blocks_.size(); ++i) {
    first_edge_.push_back(next.first_edge);
    next.first_edge += cells_.block(blocks_[i]).edges;
  }
  const std::uint64_t edges = next.first_edge - states_.back().first_edge;
  next.first_window += CountOf(edges, window_edges_);
  next.first_batch += CountOf(edges, batch_edges_);
  states_.push_back(next);
}

std::size_t EpochOrder::StateOf(std::uint64_t batch) const {
  const auto behind = std::upper_bound(states_.begin(), states_.end(), batch,
                                       [](std::uint64_t b, const StateBegin& state) { return b < state.first_batch; });
  return static_cast<std::size_t>(behind - states_.begin()) - 1;
}

EpochOrder::BatchPlace EpochOrder::PlaceOf(std::uint64_t batch) const {
  const std::size_t state = StateOf(batch);
  const std::uint64_t edges = states_[state + 1].first_edge - states_[state].first_edge;
  const std::uint64_t first = (batch - states_[state].first_batch) * batch_edges_;
  return {.window = states_[state].first_window + first / window_edges_,
          .first = first % window_edges_ * EntriesPerEdge(),
          .edges = std::min(batch_edges_, edges - first) * EntriesPerEdge()};
}

absl::Status EpochOrder::ReadWindow(std::uint64_t window, std::vector<Edge>& edges) {
  const auto behind = std::upper_bound(states_.begin(), states_.end(), window,
                                       [](std::uint64_t w, const StateBegin& state) { return w < state.first_window; });
  const StateBegin& state = *(behind - 1);
  const std::uint64_t begin = state.first_edge + (window - state.first_window) * window_edges_;
  const std::uint64_t end = std::min(begin + window_edges_, behind->first_edge);
  edges.clear();
  edges.reserve((end - begin) * EntriesPerEdge());
  RETURN_IF_ERROR(ReadEdges(begin, end, edges));
  cells_.Forget(0, cells_.block_count());  // blocks of a window lie all over the file
  if (groups_) {
    groups_->Group(static_cast<std::uint32_t>(epoch_), edges);
    return absl::OkStatus();
  }
  RandomStream stream(seed_, RandomPurpose::kWindowShuffle, static_cast<std::uint32_t>(epoch_), window);
  Shuffle(std::span(edges), stream);
  return absl::OkStatus();
}

absl::Status EpochOrder::ReadEdges(std::uint64_t begin, std::uint64_t end, std::vector<Edge>& edges) {
  auto place = std::upper_bound(first_edge_.begin(), first_edge_.end(), begin) - 1;
  for (; place != first_edge_.end() && *place < end; ++place) {
    const std::uint32_t block = blocks_[static_cast<std::size_t>(place - first_edge_.begin())];
    block_edges_.resize(cells_.block(block).edges);
    RETURN_IF_ERROR(cells_.ReadBlock(block, block_edges_, scratch_));
    bytes_read_ += block_edges_.size() * EdgeBytes(cells_.header());
    const std::uint64_t skip = begin > *place ? begin - *place : 0;
    const std::uint64_t take = std::min<std::uint64_t>(block_edges_.size(), end - *place);
    edges.insert(edges.end(), block_edges_.begin() + static_cast<std::ptrdiff_t>(skip),
                 block_edges_.begin() + static_cast<std::ptrdiff_t>(take));
  }
  return absl::OkStatus();
}

}  // namespace octavo
