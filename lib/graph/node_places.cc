#include "graph/node_places.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "base/edge.h"
#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/status.h"
#include "oneapi/tbb/parallel_sort.h"

namespace octavo {
namespace {

constexpr std::size_t kBlocksOfTask = 2;          // blocks that one task reads: up to 128 KiB
constexpr std::uint64_t kLeastThreadPairs = 256;  // so that sorting a thread's buffer is rare even in little memory

// The distinct pairs that one thread has found.
class PairBuffer {
 public:
  explicit PairBuffer(std::uint64_t limit) : limit_(limit) {}

  void Add(NodePlace pair) {
    pairs_.push_back(pair);
    if (pairs_.size() >= limit_) Compact();
  }

  // Whether half of the limit was distinct, so that the buffer had to grow beyond it.
  bool full() const { return full_; }
  std::vector<NodePlace>& pairs() { return pairs_; }

  // Scratch to read a block.
  std::vector<Edge> edges;
  std::vector<std::byte> bytes;

 private:
  void Compact() {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    if (pairs_.size() <= limit_ / 2) return;
    full_ = true;
    limit_ *= 2;
  }

  std::uint64_t limit_;
  bool full_ = false;
  std::vector<NodePlace> pairs_;
};

// The nodes whose pairs are gathered, and their partitions.
struct Wanted {
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t partition_rows;

  bool Has(NodeId node) const { return Value(node) >= first && Value(node) < last; }
  bool Has(const BlockRecord& block) const {
    return HasPartition(block.head_partition) || HasPartition(block.tail_partition);
  }

 private:
  bool HasPartition(std::uint64_t partition) const {
    return partition >= first / partition_rows && partition <= (last - 1) / partition_rows;
  }
};

absl::Status ReadPairs(const CellReader& cells, std::size_t block, const Wanted& wanted, PairBuffer& buffer) {
  buffer.edges.resize(cells.block(block).edges);
  RETURN_IF_ERROR(cells.ReadBlock(block, buffer.edges, buffer.bytes));
  for (const Edge& edge : buffer.edges) {
    if (wanted.Has(edge.head)) buffer.Add({Value(edge.head), HeadPlace(edge.relation)});
    if (wanted.Has(edge.tail)) buffer.Add({Value(edge.tail), TailPlace(edge.relation)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<NodePlaces>> NodePlaces::Gather(const Graph& graph, std::uint64_t first,
                                                             std::uint64_t last, std::uint64_t max_pairs) {
  const CellReader& cells = graph.Edges(Split::kTrain);
  const Wanted wanted{first, last, graph.description().partition_rows};
  const bool may_give_up = last - first > 1;
  const std::uint64_t limit =
      std::max(kLeastThreadPairs, max_pairs / static_cast<std::uint64_t>(std::max(1, MaxConcurrency())));
  PerThread<PairBuffer> buffers([&] { return PairBuffer(limit); });
  std::atomic<bool> too_many = false;
  std::mutex mutex;
  absl::Status status;  // guarded by mutex: the first error met
  ParallelEach(0, (cells.block_count() + kBlocksOfTask - 1) / kBlocksOfTask, [&](std::size_t task) {
    const std::size_t begin = task * kBlocksOfTask;
    const std::size_t end = std::min(begin + kBlocksOfTask, cells.block_count());
    if (wanted.Has(cells.block(begin)) && wanted.Has(cells.block(end - 1))) cells.WillRead(begin, end);
    PairBuffer& buffer = buffers.local();
    for (std::size_t block = begin; block < end; ++block) {
      // Relaxed: it only ends the reading early. The result is checked when all threads are done.
      if (too_many.load(std::memory_order_relaxed) || !wanted.Has(cells.block(block))) continue;
      const absl::Status read = ReadPairs(cells, block, wanted, buffer);
      if (may_give_up && buffer.full()) too_many.store(true, std::memory_order_relaxed);
      if (read.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      status.Update(read);
    }
    cells.Forget(begin, end);
  });
  RETURN_IF_ERROR(status);
  if (too_many) return std::optional<NodePlaces>();

  std::vector<NodePlace> pairs;
  for (PairBuffer& buffer : buffers) {
    pairs.insert(pairs.end(), buffer.pairs().begin(), buffer.pairs().end());
    buffer.pairs() = {};
  }
  tbb::parallel_sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return NodePlaces(first, last, std::move(pairs));
}

std::span<const NodePlace> NodePlaces::In(std::uint64_t begin, std::uint64_t end) const {
  const auto low = std::lower_bound(pairs_.begin(), pairs_.end(), NodePlace{begin, 0});
  return {low, std::lower_bound(low, pairs_.end(), NodePlace{end, 0})};
}

absl::Status VisitNodePlaces(const Graph& graph, std::uint64_t first, std::uint64_t last, std::uint64_t max_pairs,
                             const std::function<absl::Status(const NodePlaces&)>& visit) {
  if (first >= last) return absl::OkStatus();
  if (last - first <= max_pairs) {
    ASSIGN_OR_RETURN(const std::optional<NodePlaces> places, NodePlaces::Gather(graph, first, last, max_pairs));
    if (places) return visit(*places);
  }
  const std::uint64_t middle = first + (last - first) / 2;
  RETURN_IF_ERROR(VisitNodePlaces(graph, first, middle, max_pairs, visit));
  return VisitNodePlaces(graph, middle, last, max_pairs, visit);
}

absl::StatusOr<bool> HasTrainingEdge(const Graph& graph, NodeId node) {
  const CellReader& cells = graph.Edges(Split::kTrain);
  const Wanted wanted{Value(node), Value(node) + 1, graph.description().partition_rows};
  std::vector<Edge> edges;
  std::vector<std::byte> bytes;
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    if (!wanted.Has(cells.block(block))) continue;
    edges.resize(cells.block(block).edges);
    RETURN_IF_ERROR(cells.ReadBlock(block, edges, bytes));
    cells.Forget(block, block + 1);
    if (std::ranges::any_of(edges, [&](const Edge& edge) { return edge.head == node || edge.tail == node; })) {
      return true;
    }
  }
  return false;
}

}  // namespace octavo
