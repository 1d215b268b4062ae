#include "prefetch/window_reader.h"

#include <algorithm>
#include <span>

#include "base/random.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "format/cells.h"

namespace octavo {

WindowReader::WindowReader(const CellReader& cells, const OrderSettings& settings)
    : cells_(cells),
      seed_(settings.seed),
      most_entries_(std::min(SizesFor(settings, cells.edge_count()).pool_edges, cells.edge_count()) *
                    settings.EntriesPerEdge()) {
  if (settings.inverse_offset) groups_.emplace(settings.seed, *settings.inverse_offset);
}

absl::Status WindowReader::Read(const EpochOrder& order, std::uint64_t window, EdgeWindow& into) {
  into.read_bytes = 0;
  into.seconds = 0;
  const Stopwatch stopwatch(into.seconds);
  const EpochOrder::WindowPlace place = order.PlaceOfWindow(window);
  if (place.entries == place.pool_entries) return ReadPool(order, place.pool, into.edges, into.read_bytes);
  if (pool_epoch_ != order.epoch() || pool_number_ != place.pool) {
    Forget();
    pool_.reserve(most_entries_);  // once: growing it would need memory for two
    RETURN_IF_ERROR(ReadPool(order, place.pool, pool_, into.read_bytes));
    pool_epoch_ = order.epoch();
    pool_number_ = place.pool;
  }
  const std::span<const Edge> edges = std::span(pool_).subspan(place.first, place.entries);
  into.edges.assign(edges.begin(), edges.end());
  return absl::OkStatus();
}

absl::Status WindowReader::ReadPool(const EpochOrder& order, std::uint64_t pool, std::vector<Edge>& entries,
                                    std::uint64_t& read_bytes) {
  const std::vector<EpochOrder::BlockPart> parts = order.PartsOfPool(pool);
  std::uint64_t edges = 0;
  for (const EpochOrder::BlockPart& part : parts) edges += part.edges;
  entries.reserve(groups_ ? 2 * edges : edges);
  entries.resize(edges);
  auto next = entries.begin();
  for (const EpochOrder::BlockPart& part : parts) {
    block_edges_.resize(cells_.block(part.block).edges);
    RETURN_IF_ERROR(cells_.ReadBlock(part.block, block_edges_, scratch_));
    read_bytes += block_edges_.size() * EdgeBytes(cells_.header());
    next = std::copy_n(block_edges_.begin() + part.first, part.edges, next);
  }
  cells_.Forget(0, cells_.block_count());  // blocks of a pool are scattered over the file
  const auto epoch = static_cast<std::uint32_t>(order.epoch());
  if (groups_) {
    groups_->Group(epoch, entries);
    return absl::OkStatus();
  }
  RandomStream stream(seed_, RandomPurpose::kPoolShuffle, epoch, pool);
  Shuffle(std::span(entries), stream);
  return absl::OkStatus();
}

}  // namespace octavo
