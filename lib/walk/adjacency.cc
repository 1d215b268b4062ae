#include "walk/adjacency.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <tuple>
#include <utility>

#include "base/edge.h"
#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"

namespace octavo {
namespace {

// Blocks that one task reads: half a megabyte, enough for a disk's full speed.
constexpr std::size_t kBlocksPerTask = 16;
// Rows that one task sorts.
constexpr std::size_t kRowsPerTask = 256;
// Large arrays are written and read in pieces, so that the page cache never holds a second copy of a whole one.
constexpr std::size_t kPieceBytes = std::size_t{2} << 20;

// Calls take(record, edges) for the blocks of [first, end) that `wanted` says, concurrently on many threads.
template <typename Wanted, typename Take>
absl::Status ForEachBlock(const CellReader& cells, std::size_t first, std::size_t end, const Wanted& wanted,
                          const Take& take) {
  Mutex mutex;
  absl::Status status;  // the first error; under mutex
  const std::size_t tasks = (end - first + kBlocksPerTask - 1) / kBlocksPerTask;
  ParallelEach(0, tasks, [&](std::size_t task) {
    const std::size_t begin = first + task * kBlocksPerTask;
    const std::size_t stop = std::min(end, begin + kBlocksPerTask);
    std::vector<Edge> edges;
    std::vector<std::byte> scratch;
    absl::Status read;
    cells.WillRead(begin, stop);
    for (std::size_t block = begin; block < stop && read.ok(); ++block) {
      if (!wanted(cells.block(block))) continue;
      edges.resize(cells.block(block).edges);
      read = cells.ReadBlock(block, edges, scratch);
      if (read.ok()) take(cells.block(block), std::span<const Edge>(edges));
    }
    cells.Forget(begin, stop);
    const MutexLock lock(mutex);
    if (status.ok()) status = std::move(read);
  });
  return status;
}

// The blocks of the partitions' cells; they are consecutive.
std::pair<std::size_t, std::size_t> BlocksOf(const CellReader& cells, const PartitionRange& range) {
  const auto first_of = [&](std::uint32_t partition) {
    std::size_t low = 0;
    std::size_t high = cells.block_count();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (cells.block(middle).head_partition < partition) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {first_of(range.first_partition), first_of(range.end_partition)};
}

// An edge waits in the memory of its weight sum until its row is sorted: tail, then weight. Weights are positive, so
// their bits have the same order.
double PackEdge(std::uint32_t tail, float weight) {
  return std::bit_cast<double>((std::uint64_t{tail} << 32) | std::bit_cast<std::uint32_t>(weight));
}
std::uint64_t BitsOf(double packed) { return std::bit_cast<std::uint64_t>(packed); }

template <typename T>
absl::Status SaveArray(std::span<const T> values, SpillFile& file) {
  for (auto rest = std::as_bytes(values); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kPieceBytes));
    RETURN_IF_ERROR(file.Append(some));
    rest = rest.subspan(some.size());
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status LoadArray(const SpillFile& file, std::uint64_t& offset, std::span<T> values) {
  for (auto rest = std::as_writable_bytes(values); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kPieceBytes));
    RETURN_IF_ERROR(file.ReadOnce(offset, some));
    offset += some.size();
    rest = rest.subspan(some.size());
  }
  return absl::OkStatus();
}

}  // namespace

std::uint64_t Adjacency::BytesOf(std::uint64_t nodes, std::uint64_t edges, bool weighted) {
  return (nodes + 1) * sizeof(std::uint64_t) +
         edges * (sizeof(std::uint32_t) + (weighted ? sizeof(double) : std::size_t{0}));
}

// The blocks that a range's rows are made of.
struct Adjacency::Blocks {
  const CellReader& cells;
  const PartitionRange& range;
  bool both_ways = false;

  bool HasHeads(const BlockRecord& block) const { return Has(block.head_partition); }
  bool HasTails(const BlockRecord& block) const { return both_ways && Has(block.tail_partition); }
  // Calls take(node, neighbour, weight) for each entry of the rows, concurrently on many threads.
  template <typename Take>
  absl::Status ForEachEntry(const Take& take) const {
    auto [first, end] = BlocksOf(cells, range);
    if (both_ways) std::tie(first, end) = std::pair<std::size_t, std::size_t>(0, cells.block_count());
    const auto wanted = [this](const BlockRecord& block) { return HasHeads(block) || HasTails(block); };
    return ForEachBlock(cells, first, end, wanted, [&](const BlockRecord& block, std::span<const Edge> edges) {
      for (const Edge& edge : edges) {
        if (HasHeads(block)) take(edge.head, edge.tail, edge.weight);
        if (HasTails(block)) take(edge.tail, edge.head, edge.weight);
      }
    });
  }

 private:
  bool Has(std::uint32_t partition) const {
    return partition >= range.first_partition && partition < range.end_partition;
  }
};

absl::StatusOr<Adjacency> Adjacency::Build(const CellReader& cells, const PartitionRange& range, bool both_ways) {
  Adjacency rows;
  rows.first_node_ = range.first_node;
  rows.begin_.resize(range.end_node - range.first_node + 1);
  rows.tails_.resize(range.edges);
  if (cells.header().has_weights != 0) rows.sums_.resize(range.edges);
  const Blocks blocks{.cells = cells, .range = range, .both_ways = both_ways};
  RETURN_IF_ERROR(rows.Count(blocks));
  RETURN_IF_ERROR(rows.Fill(blocks));
  rows.SortRows();
  return rows;
}

// Afterwards begin_[i] is the end of row i.
absl::Status Adjacency::Count(const Blocks& blocks) {
  RETURN_IF_ERROR(blocks.ForEachEntry([&](NodeId node, NodeId, float) {
    // Relaxed, here and below: read only after the threads were joined.
    std::atomic_ref(begin_[Value(node) - first_node_]).fetch_add(1, std::memory_order_relaxed);
  }));
  std::uint64_t total = 0;
  for (std::uint64_t& begin : begin_) begin = total += begin;
  return absl::OkStatus();
}

// Fills rows from their ends, so that begin_[i] ends up as the beginning of row i.
absl::Status Adjacency::Fill(const Blocks& blocks) {
  return blocks.ForEachEntry([&](NodeId node, NodeId neighbour, float weight) {
    const std::uint64_t place =
        std::atomic_ref(begin_[Value(node) - first_node_]).fetch_sub(1, std::memory_order_relaxed) - 1;
    tails_[place] = static_cast<std::uint32_t>(Value(neighbour));
    if (!sums_.empty()) sums_[place] = PackEdge(tails_[place], weight);
  });
}

// In place: a hub may have most of all edges in its row.
void Adjacency::SortRows() {
  ParallelRanges(0, begin_.size() - 1, kRowsPerTask, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto tails = std::span(tails_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
      if (sums_.empty()) {
        std::ranges::sort(tails);
        continue;
      }
      const auto sums = std::span(sums_).subspan(begin_[i], tails.size());
      std::ranges::sort(sums, {}, BitsOf);
      double sum = 0;
      for (std::size_t k = 0; k < tails.size(); ++k) {
        tails[k] = static_cast<std::uint32_t>(BitsOf(sums[k]) >> 32);
        sums[k] = sum += std::bit_cast<float>(static_cast<std::uint32_t>(BitsOf(sums[k])));
      }
    }
  });
}

absl::StatusOr<SpillExtent> Adjacency::Save(SpillFile& file) const {
  SpillExtent extent{.begin = file.size(), .end = 0};
  RETURN_IF_ERROR(SaveArray(std::span(begin_), file));
  RETURN_IF_ERROR(SaveArray(std::span(tails_), file));
  RETURN_IF_ERROR(SaveArray(std::span(sums_), file));
  extent.end = file.size();
  return extent;
}

absl::StatusOr<Adjacency> Adjacency::Load(const SpillFile& file, const SpillExtent& extent, const PartitionRange& range,
                                          bool weighted) {
  Adjacency rows;
  rows.first_node_ = range.first_node;
  rows.begin_.resize(range.end_node - range.first_node + 1);
  rows.tails_.resize(range.edges);
  if (weighted) rows.sums_.resize(range.edges);
  std::uint64_t offset = extent.begin;
  RETURN_IF_ERROR(LoadArray(file, offset, std::span(rows.begin_)));
  RETURN_IF_ERROR(LoadArray(file, offset, std::span(rows.tails_)));
  RETURN_IF_ERROR(LoadArray(file, offset, std::span(rows.sums_)));
  return rows;
}

std::vector<PartitionRange> PartitionRanges(const CellReader& cells, bool both_ways) {
  const CellsHeader& header = cells.header();
  std::vector<PartitionRange> ranges(header.partition_count);
  for (std::uint32_t partition = 0; partition < header.partition_count; ++partition) {
    const std::uint64_t first = partition * header.partition_rows;
    ranges[partition] = {.first_partition = partition,
                         .end_partition = partition + 1,
                         .first_node = first,
                         .end_node = std::min(first + header.partition_rows, header.node_count),
                         .edges = 0};
  }
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    ranges[cells.block(block).head_partition].edges += cells.block(block).edges;
    if (both_ways) ranges[cells.block(block).tail_partition].edges += cells.block(block).edges;
  }
  return ranges;
}

std::vector<PartitionRange> JoinPartitions(std::span<const PartitionRange> partitions, bool weighted,
                                           std::uint64_t bytes) {
  std::vector<PartitionRange> joined;
  for (const PartitionRange& next : partitions) {
    if (!joined.empty()) {
      PartitionRange& last = joined.back();
      if (Adjacency::BytesOf(next.end_node - last.first_node, last.edges + next.edges, weighted) <= bytes) {
        last.end_partition = next.end_partition;
        last.end_node = next.end_node;
        last.edges += next.edges;
        continue;
      }
    }
    joined.push_back(next);
  }
  return joined;
}

}  // namespace octavo
