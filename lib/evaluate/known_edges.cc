#include "evaluate/known_edges.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/status.h"

namespace octavo {
namespace {

constexpr std::size_t kBlocksOfTask = 8;  // blocks that one task reads: up to half a MiB
constexpr Split kSplits[] = {Split::kTrain, Split::kValid, Split::kTest};

struct TripleKey {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  std::uint32_t relation = 0;

  friend bool operator==(const TripleKey&, const TripleKey&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const TripleKey& key) {
    return H::combine(std::move(hash), key.head, key.tail, key.relation);
  }
};

// Triples that the match treats as equal have equal keys.
TripleKey KeyOf(const Edge& edge, const EdgeMatch& match) {
  TripleKey key{Value(edge.head), Value(edge.tail), match.any_relation ? 0 : Value(edge.relation)};
  if (match.either_way && key.head > key.tail) std::swap(key.head, key.tail);
  return key;
}

using KnownTriples = absl::flat_hash_map<TripleKey, char>;  // value: whether it is an edge

struct Worker {
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
};

absl::Status MarkBlock(const CellReader& cells, std::size_t block, const EdgeMatch& match, Worker& worker,
                       KnownTriples& triples) {
  worker.edges.resize(cells.block(block).edges);
  RETURN_IF_ERROR(cells.ReadBlock(block, worker.edges, worker.scratch));
  for (const Edge& edge : worker.edges) {
    // The map itself does not change. Relaxed: read when all threads are done.
    if (const auto found = triples.find(KeyOf(edge, match)); found != triples.end()) {
      std::atomic_ref<char>(found->second).store(1, std::memory_order_relaxed);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<char>> FindEdges(const Graph& graph, std::span<const Edge> triples, const EdgeMatch& match) {
  KnownTriples known;
  known.reserve(triples.size());
  for (const Edge& triple : triples) known.emplace(KeyOf(triple, match), 0);

  PerThread<Worker> workers;
  std::mutex mutex;
  absl::Status status;  // guarded by mutex: the first error met
  for (const Split split : kSplits) {
    const CellReader& cells = graph.Edges(split);
    ParallelEach(0, (cells.block_count() + kBlocksOfTask - 1) / kBlocksOfTask, [&](std::size_t task) {
      const std::size_t first = task * kBlocksOfTask;
      const std::size_t last = std::min(first + kBlocksOfTask, cells.block_count());
      cells.WillRead(first, last);
      for (std::size_t block = first; block < last; ++block) {
        const absl::Status read = MarkBlock(cells, block, match, workers.local(), known);
        if (read.ok()) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        status.Update(read);
      }
      cells.Forget(first, last);
    });
    RETURN_IF_ERROR(status);
  }

  std::vector<char> is_edge(triples.size());
  for (std::size_t i = 0; i < triples.size(); ++i) is_edge[i] = known.find(KeyOf(triples[i], match))->second;
  return is_edge;
}

}  // namespace octavo
