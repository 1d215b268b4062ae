#include "query/node_edges.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/status.h"

namespace octavo {
namespace {

constexpr std::array<Split, 3> kSplits = {Split::kTrain, Split::kValid, Split::kTest};
constexpr std::size_t kBlocksOfTask = 4;

using Others = std::vector<std::pair<NodeId, Split>>;

struct Found {
  std::array<std::uint64_t, 3> counts{};
  Others others;

  // Keeps the smallest `most`; sorts only when twice as many are there.
  void Trim(std::size_t most, std::size_t slack) {
    if (others.size() <= most + slack) return;
    std::ranges::sort(others);
    others.resize(std::min(others.size(), most));
  }
};

// By relation, and whether the node is the tail.
using Groups = std::map<std::pair<std::uint32_t, bool>, Found>;

struct Worker {
  Groups groups;
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
};

void Add(Groups& groups, RelationId relation, bool is_tail, NodeId other, std::size_t split, std::size_t most) {
  Found& found = groups[{Value(relation), is_tail}];
  ++found.counts[split];
  found.others.emplace_back(other, kSplits[split]);
  found.Trim(most, most + 64);
}

absl::Status ReadSplit(const Graph& graph, std::size_t split, NodeId node, std::size_t most,
                       const std::function<bool()>& stop, PerThread<Worker>& workers) {
  const CellReader& cells = graph.Edges(kSplits[split]);
  const std::uint64_t partition = Value(node) / graph.description().partition_rows;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  absl::Status status;  // guarded by mutex: the first error met
  const auto read = [&](std::size_t block, Worker& worker) -> absl::Status {
    if (stop && stop()) return absl::CancelledError("the search was stopped");
    worker.edges.resize(cells.block(block).edges);
    RETURN_IF_ERROR(cells.ReadBlock(block, worker.edges, worker.scratch));
    for (const Edge& edge : worker.edges) {
      if (edge.head == node) Add(worker.groups, edge.relation, false, edge.tail, split, most);
      if (edge.tail == node) Add(worker.groups, edge.relation, true, edge.head, split, most);
    }
    return absl::OkStatus();
  };
  ParallelEach(0, (cells.block_count() + kBlocksOfTask - 1) / kBlocksOfTask, [&](std::size_t task) {
    const std::size_t begin = task * kBlocksOfTask;
    const std::size_t end = std::min(begin + kBlocksOfTask, cells.block_count());
    for (std::size_t block = begin; block < end; ++block) {
      const BlockRecord& record = cells.block(block);
      if (record.head_partition != partition && record.tail_partition != partition) continue;
      if (failed.load(std::memory_order_relaxed)) return;  // relaxed: it only ends the reading early
      const absl::Status done = read(block, workers.local());
      if (done.ok()) continue;
      failed.store(true, std::memory_order_relaxed);
      const std::lock_guard<std::mutex> lock(mutex);
      status.Update(done);
    }
    cells.Forget(begin, end);
  });
  return status;
}

}  // namespace

absl::StatusOr<NodeEdges> FindNodeEdges(const Graph& graph, NodeId node, std::size_t most,
                                        const std::function<bool()>& stop) {
  PerThread<Worker> workers([] { return Worker(); });
  for (std::size_t split = 0; split < kSplits.size(); ++split) {
    RETURN_IF_ERROR(ReadSplit(graph, split, node, most, stop, workers));
  }
  Groups all;
  for (Worker& worker : workers) {
    for (auto& [key, found] : worker.groups) {
      Found& sum = all[key];
      for (std::size_t i = 0; i < kSplits.size(); ++i) sum.counts[i] += found.counts[i];
      sum.others.insert(sum.others.end(), found.others.begin(), found.others.end());
    }
  }
  NodeEdges edges;
  for (auto& [key, found] : all) {
    std::ranges::sort(found.others);
    found.others.resize(std::min(found.others.size(), most));
    edges.degree += found.counts[0];
    edges.groups.push_back({RelationId{key.first}, !key.second, found.counts, std::move(found.others)});
  }
  return edges;
}

}  // namespace octavo
