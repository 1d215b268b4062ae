#include "prefetch/epoch_order.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "base/status.h"
#include "format/cells.h"

namespace octavo {

EpochOrder::EpochOrder(const CellReader& cells, std::uint64_t seed, std::uint64_t window_edges)
    : cells_(cells),
      seed_(seed),
      window_edges_(window_edges),
      blocks_(cells.block_count()),
      first_edge_(cells.block_count()) {
  SetEpoch(0);
}

void EpochOrder::SetEpoch(std::uint64_t epoch) {
  epoch_ = epoch;
  std::iota(blocks_.begin(), blocks_.end(), 0U);
  RandomStream stream(seed_, RandomPurpose::kBlockOrder, static_cast<std::uint32_t>(epoch), 0);
  Shuffle(std::span(blocks_), stream);
  std::uint64_t edges = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    first_edge_[i] = edges;
    edges += cells_.block(blocks_[i]).edges;
  }
}

std::uint64_t EpochOrder::window_count() const {
  return cells_.edge_count() / window_edges_ + (cells_.edge_count() % window_edges_ != 0 ? 1 : 0);
}

std::uint64_t EpochOrder::WindowEdges(std::uint64_t window) const {
  return std::min(window_edges_, cells_.edge_count() - window * window_edges_);
}

absl::Status EpochOrder::ReadWindow(std::uint64_t window, std::vector<Edge>& edges) {
  const std::uint64_t begin = window * window_edges_;
  const std::uint64_t end = begin + WindowEdges(window);
  edges.clear();
  edges.reserve(end - begin);
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
  RandomStream stream(seed_, RandomPurpose::kWindowShuffle, static_cast<std::uint32_t>(epoch_), window);
  Shuffle(std::span(edges), stream);
  return absl::OkStatus();
}

}  // namespace octavo
