#include "layout/neighbor_graph.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/row_stream.h"
#include "index/cosine_index.h"
#include "layout/neighbor_layout.h"
#include "layout/node_shards.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPieceRows = 256;              // read or written together
constexpr std::uint64_t kMergedPieceBytes = 16 << 20;  // of the shards' results while they are merged, at most
constexpr std::uint64_t kStreamBytes = 2 << 20;        // of the blocks of embeddings
constexpr std::uint64_t kReverseQuantum = 1 << 14;     // nodes of a part of the reverse lists are a multiple

// A search keeps this many candidates. More of them find few better neighbours on graphs this small.
std::uint64_t KeptOf(std::uint32_t neighbors) { return std::max<std::uint64_t>(64, 2 * std::uint64_t{neighbors}); }

// Smaller than for searches that people wait for: two thirds of the time, and 0.98 of the neighbours instead of 0.99 on
// BlogCatalog (d=128).
IndexOptions IndexOf() { return {.m = 12, .ef_construction = 60}; }

std::uint64_t CapacityOf(std::uint64_t nodes, std::uint64_t dim, const NeighborOptions& options) {
  const std::uint64_t capacity = options.shard_capacity > 0 ? options.shard_capacity : ShardCapacity(dim);
  return std::min(nodes, capacity);  // one shard with as many as there are
}

// Memory of building and searching one shard.
std::uint64_t ShardTaskBytes(std::uint64_t dim, std::uint64_t capacity, const NeighborOptions& options) {
  return CosineIndex::MemoryBytes(capacity, dim, IndexOf().m) +
         CosineIndex::SearchBytes(capacity, KeptOf(options.neighbors)) * static_cast<std::uint64_t>(options.threads) +
         capacity * sizeof(std::uint32_t) + kPieceRows * sizeof(float) * (1 + dim + 2 * options.neighbors);
}

// One half of a list, best first; `scores` in the words of the other half.
struct ListOf {
  std::span<std::uint32_t> ids;
  std::span<std::uint32_t> scores;
};
ListOf HalvesOf(std::span<std::uint32_t> words) {
  return {words.first(words.size() / 2), words.subspan(words.size() / 2)};
}

class NeighborSearch {
 public:
  NeighborSearch(const EmbeddedGraph& embedded, const NeighborOptions& options)
      : embedded_(embedded),
        options_(options),
        nodes_(embedded.graph.node_count()),
        dim_(embedded.model.dim),
        width_(2 * std::uint64_t{options.neighbors}),
        capacity_(CapacityOf(nodes_, dim_, options)),
        shard_count_(ShardCount(nodes_, capacity_)) {}

  absl::StatusOr<ScratchTable> Run() {
    DivideMemory();
    ASSIGN_OR_RETURN(ScratchTable results, MakeTable(shard_count_ * capacity_, width_, results_in_memory_));
    NodeShards shards;
    {
      ASSIGN_OR_RETURN(ScratchTable rows, MakeTable(shard_count_ * capacity_, 1 + dim_, rows_in_memory_));
      ASSIGN_OR_RETURN(shards, ShardNodes(embedded_, capacity_, kStreamBytes, rows,
                                          [&](double share) { Show("reading the embeddings", share); }));
      RETURN_IF_ERROR(SearchShards(shards, rows, results));
    }
    if (shards.copies == 1) {
      RETURN_IF_ERROR(AddReverse(results));
      return results;
    }
    ASSIGN_OR_RETURN(ScratchTable lists, MakeTable(nodes_, width_, lists_in_memory_));
    RETURN_IF_ERROR(Merge(shards, results, lists));
    RETURN_IF_ERROR(AddReverse(lists));
    return lists;
  }

 private:
  void Show(std::string_view what, double share) const {
    if (options_.progress) {
      options_.progress(what, share, static_cast<std::uint64_t>(share * static_cast<double>(nodes_)));
    }
  }

  // Threads first, because an index takes most of the time; then the tables, those that are read most often first.
  void DivideMemory() {
    const std::uint64_t task = ShardTaskBytes(dim_, capacity_, options_);
    const std::uint64_t fixed = LeastNeighborBytes(nodes_, dim_, options_) - task;
    std::uint64_t rest = options_.memory_bytes - std::min(options_.memory_bytes, fixed);
    tasks_ = std::clamp<std::uint64_t>(rest / task, 1, static_cast<std::uint64_t>(options_.threads));
    tasks_ = std::min(tasks_, shard_count_);
    rest -= std::min(rest, tasks_ * task);
    const std::uint64_t copies = shard_count_ == 1 ? 1 : 2;
    const auto take = [&](std::uint64_t bytes) {
      if (bytes > rest) return false;
      rest -= bytes;
      return true;
    };
    const std::uint64_t list_bytes = nodes_ * width_ * sizeof(std::uint32_t);
    if (copies == 1) {  // the results become the lists
      results_in_memory_ = list_bytes <= options_.list_bytes && take(list_bytes);
    } else {
      lists_in_memory_ = list_bytes <= options_.list_bytes && take(list_bytes);
      results_in_memory_ = take(copies * list_bytes);
    }
    rows_in_memory_ = take(copies * nodes_ * (1 + dim_) * sizeof(std::uint32_t));
    reverse_bytes_ = rest;
  }

  absl::StatusOr<ScratchTable> MakeTable(std::uint64_t rows, std::uint64_t width, bool in_memory) const {
    if (in_memory) return ScratchTable::InMemory(rows, width);
    return ScratchTable::InFile(options_.scratch_folder, rows, width);
  }

  absl::Status SearchShards(const NodeShards& shards, const ScratchTable& rows, ScratchTable& results) const {
    std::vector<absl::Status> errors(shard_count_);
    std::uint64_t done = 0;
    for (std::uint64_t begin = 0; begin < shard_count_; begin += tasks_) {
      const std::uint64_t end = std::min(begin + tasks_, shard_count_);
      Show("finding neighbours", static_cast<double>(done) / static_cast<double>(shards.copies * nodes_));
      ParallelEach(begin, end, [&](std::size_t shard) {
        errors[shard] = SearchShard(shard * capacity_, shards.sizes[shard], rows, results);
      });
      for (std::uint64_t shard = begin; shard < end; ++shard) {
        RETURN_IF_ERROR(errors[shard]);
        done += shards.sizes[shard];
      }
    }
    return absl::OkStatus();
  }

  // Finds the neighbours of the nodes of a shard, which has rows [first, first + size), among them.
  absl::Status SearchShard(std::uint64_t first, std::uint64_t size, const ScratchTable& rows,
                           ScratchTable& results) const {
    if (size == 0) return absl::OkStatus();
    std::vector<std::uint32_t> ids(size);
    const auto read = [&](const CosineIndex::AddRow& add) -> absl::Status {
      std::vector<std::uint32_t> words;
      std::vector<float> row(dim_);
      for (std::uint64_t begin = 0; begin < size; begin += kPieceRows) {
        const std::uint64_t count = std::min(kPieceRows, size - begin);
        words.resize(count * (1 + dim_));
        RETURN_IF_ERROR(rows.Read(first + begin, words));
        for (std::uint64_t i = 0; i < count; ++i) {
          ids[begin + i] = words[i * (1 + dim_)];
          std::memcpy(row.data(), &words[i * (1 + dim_) + 1], dim_ * sizeof(float));
          add(row);
        }
      }
      return absl::OkStatus();
    };
    ASSIGN_OR_RETURN(const CosineIndex index, CosineIndex::BuildOf(size, dim_, IndexOf(), read));
    std::vector<absl::Status> errors((size + kPieceRows - 1) / kPieceRows);
    ParallelEach(0, errors.size(), [&](std::size_t piece) {
      const std::uint64_t begin = piece * kPieceRows;
      const std::uint64_t count = std::min(kPieceRows, size - begin);
      std::vector<std::uint32_t> words(count * width_, kNoNode);
      for (std::uint64_t i = 0; i < count; ++i) {
        const ListOf list = HalvesOf(std::span(words).subspan(i * width_, width_));
        std::size_t place = 0;
        for (const ScoredNode& found :
             index.Nearest(NodeId{begin + i}, options_.neighbors, KeptOf(options_.neighbors))) {
          list.ids[place] = ids[Value(found.node)];
          list.scores[place++] = std::bit_cast<std::uint32_t>(found.score);
        }
      }
      errors[piece] = results.Write(first + begin, words);
    });
    for (const absl::Status& error : errors) RETURN_IF_ERROR(error);
    return absl::OkStatus();
  }

  // Merges the lists that a node has in its shards. Shards have their nodes by id, so each is read in order.
  absl::Status Merge(const NodeShards& shards, const ScratchTable& results, ScratchTable& lists) const {
    struct Cursor {
      std::vector<std::uint32_t> words;
      std::uint64_t row = 0;    // of the shard, the next
      std::uint64_t begin = 0;  // of the rows in `words`
    };
    const std::uint64_t ahead =
        std::clamp<std::uint64_t>(kMergedPieceBytes / (shard_count_ * width_ * sizeof(std::uint32_t)), 1, kPieceRows);
    std::vector<Cursor> cursors(shard_count_);
    const auto next = [&](std::uint32_t shard) -> absl::StatusOr<std::span<std::uint32_t>> {
      Cursor& cursor = cursors[shard];
      if (cursor.row == cursor.begin + cursor.words.size() / width_) {
        cursor.begin = cursor.row;
        cursor.words.resize(std::min(ahead, shards.sizes[shard] - cursor.row) * width_);
        RETURN_IF_ERROR(results.Read(shard * capacity_ + cursor.row, cursor.words));
      }
      return std::span(cursor.words).subspan((cursor.row++ - cursor.begin) * width_, width_);
    };
    std::vector<std::uint32_t> merged;
    for (std::uint64_t begin = 0; begin < nodes_; begin += kPieceRows) {
      const std::uint64_t count = std::min(kPieceRows, nodes_ - begin);
      merged.assign(count * width_, kNoNode);
      for (std::uint64_t i = 0; i < count; ++i) {
        TopK best(options_.neighbors);
        std::span<std::uint32_t> first;
        for (std::uint64_t c = 0; c < shards.copies; ++c) {
          ASSIGN_OR_RETURN(const std::span<std::uint32_t> words, next(shards.of_node[(begin + i) * shards.copies + c]));
          const ListOf list = HalvesOf(words);
          for (std::size_t k = 0; k < list.ids.size() && list.ids[k] != kNoNode; ++k) {
            if (c > 0 && std::ranges::find(first, list.ids[k]) != first.end()) continue;
            best.Add({NodeId{list.ids[k]}, std::bit_cast<float>(list.scores[k])});
          }
          first = list.ids;
        }
        std::size_t place = 0;
        for (const ScoredNode& node : best.TakeSorted())
          merged[i * width_ + place++] = static_cast<std::uint32_t>(Value(node.node));
      }
      RETURN_IF_ERROR(lists.Write(begin, merged));
    }
    return absl::OkStatus();
  }

  // Replaces the second half of each list by the nodes that have the node in their first half. The reverse lists of as
  // many nodes as fit into memory are made in one pass over the lists.
  absl::Status AddReverse(ScratchTable& lists) const {
    const std::uint64_t k = options_.neighbors;
    const std::uint64_t node_bytes = k * sizeof(std::uint64_t) + sizeof(std::uint32_t);
    const std::uint64_t part =
        std::min(nodes_, std::max<std::uint64_t>(1, reverse_bytes_ / (kReverseQuantum * node_bytes)) * kReverseQuantum);
    std::vector<std::uint64_t> reverse(part * k);  // rank in the upper, node in the lower half; the best
    std::vector<std::uint32_t> sizes(part);
    for (std::uint64_t begin = 0; begin < nodes_; begin += part) {
      const std::uint64_t end = std::min(begin + part, nodes_);
      std::ranges::fill(sizes, 0);
      RETURN_IF_ERROR(ForEachPiece(lists, 0, nodes_, [&](std::uint64_t first, std::span<std::uint32_t> words) {
        for (std::uint64_t i = 0; i < words.size() / width_; ++i) {
          for (std::uint64_t rank = 0; rank < k; ++rank) {
            const std::uint32_t near = words[i * width_ + rank];
            if (near == kNoNode) break;
            if (near < begin || near >= end) continue;
            KeepBest(std::span(reverse).subspan((near - begin) * k, k), sizes[near - begin],
                     (rank << 32) | (first + i));
          }
        }
        return absl::OkStatus();
      }));
      RETURN_IF_ERROR(ForEachPiece(lists, begin, end, [&](std::uint64_t first, std::span<std::uint32_t> words) {
        for (std::uint64_t i = 0; i < words.size() / width_; ++i) {
          const std::uint64_t place = first + i - begin;
          Complete(words.subspan(i * width_, width_), std::span(reverse).subspan(place * k, sizes[place]));
        }
        return lists.Write(first, words);
      }));
    }
    return absl::OkStatus();
  }

  // Adds `entry` to the first `size` of `best`, or replaces the worst of them if there is no room.
  static void KeepBest(std::span<std::uint64_t> best, std::uint32_t& size, std::uint64_t entry) {
    if (size < best.size()) {
      best[size++] = entry;
      return;
    }
    const auto worst = std::ranges::max_element(best);
    if (entry < *worst) *worst = entry;
  }

  // Writes the nodes of `reverse` into the second half of `words`, best first.
  static void Complete(std::span<std::uint32_t> words, std::span<std::uint64_t> reverse) {
    std::ranges::sort(reverse);
    const ListOf list = HalvesOf(words);
    std::ranges::fill(list.scores, kNoNode);
    std::ranges::transform(reverse, list.scores.begin(),
                           [](std::uint64_t entry) { return static_cast<std::uint32_t>(entry); });
  }

  // Calls visit(first, words) for the lists of nodes [begin, end).
  template <typename Visit>
  absl::Status ForEachPiece(const ScratchTable& lists, std::uint64_t begin, std::uint64_t end,
                            const Visit& visit) const {
    std::vector<std::uint32_t> words;
    for (std::uint64_t first = begin; first < end; first += kPieceRows) {
      words.resize(std::min(kPieceRows, end - first) * width_);
      RETURN_IF_ERROR(lists.Read(first, words));
      RETURN_IF_ERROR(visit(first, std::span<std::uint32_t>(words)));
    }
    return absl::OkStatus();
  }

  const EmbeddedGraph& embedded_;
  const NeighborOptions& options_;
  const std::uint64_t nodes_;
  const std::uint64_t dim_;
  const std::uint64_t width_;  // of a list, both halves
  const std::uint64_t capacity_;
  const std::uint64_t shard_count_;
  std::uint64_t tasks_ = 1;  // shards that are searched at a time
  std::uint64_t reverse_bytes_ = 0;
  bool lists_in_memory_ = false;
  bool results_in_memory_ = false;
  bool rows_in_memory_ = false;
};

}  // namespace

std::uint64_t LeastNeighborBytes(std::uint64_t nodes, std::uint64_t dim, const NeighborOptions& options) {
  const std::uint64_t capacity = CapacityOf(nodes, dim, options);
  const std::uint64_t k = options.neighbors;
  const std::uint64_t stream = 2 * std::max<std::uint64_t>(kStreamBytes, dim * sizeof(float));
  const std::uint64_t merged = kMergedPieceBytes + ShardCount(nodes, capacity) * 2 * k * sizeof(std::uint32_t);
  const std::uint64_t reverse = kReverseQuantum * (k * sizeof(std::uint64_t) + sizeof(std::uint32_t));
  return ShardingBytes(nodes, dim, capacity) + stream +
         std::max({ShardTaskBytes(dim, capacity, options), merged, reverse});
}

absl::StatusOr<ScratchTable> FindNeighbors(const EmbeddedGraph& embedded, const NeighborOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  return NeighborSearch(embedded, options).Run();
}

}  // namespace octavo
