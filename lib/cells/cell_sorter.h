// Distributes a graph's edges over its cells, sorts each cell and removes duplicates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cells/cell_edges.h"
#include "cells/edge_record.h"

namespace octavo {

// A graph has at most this many partitions, hence 262,144 cells in each split. A cell costs a block, whose record takes
// 32 bytes.
inline constexpr std::uint32_t kMostPartitions = 512;

// Cuts the nodes into at most `most` partitions; 0 chooses: 64, and in a graph of more than 4,194,304 nodes as many as
// have 65,536 nodes each, at most kMostPartitions. REQUIRES: node_count > 0, most <= kMostPartitions
PartitionLayout PartitionLayoutFor(std::uint64_t node_count, std::uint64_t most = 0);

// All edges that are kept, with final ids, cell by cell (row-major) and within a cell split by split.
class SortedEdges : public CellEdges {
 public:
  // Takes the edges, which have final ids, from `chunks`, and frees each chunk after distributing it. Parallel. Within
  // a cell and split the order depends on the threads; OrderCell makes it deterministic.
  SortedEdges(EdgeChunks chunks, const PartitionLayout& partitions) : SortedEdges(chunks, partitions, /*free=*/true) {}
  // The same from chunks that stay, so that their memory can be used again. Takes large pages, which are filled faster.
  static SortedEdges CopyOf(EdgeChunks& chunks, const PartitionLayout& partitions) {
    return SortedEdges(chunks, partitions, /*free=*/false);
  }

  std::uint32_t cell_count() const { return partitions_.count * partitions_.count; }
  const PartitionLayout& partitions() const override { return partitions_; }
  std::span<EdgeRecord> Edges(std::uint32_t cell, EdgeSplit split);
  // All three splits of a cell.
  std::span<EdgeRecord> Cell(std::uint32_t cell);
  std::span<EdgeRecord> All() { return {edges_, begin_.back()}; }
  std::uint64_t Size(std::uint32_t cell) const override {
    return begin_[(cell + 1) * kSplits] - begin_[cell * kSplits];
  }
  std::vector<std::span<EdgeRecord>> Runs(std::uint32_t cell) override { return {Cell(cell)}; }
  std::size_t most_runs() const override { return 1; }
  // Keeps partial pages at the ends.
  void Release(std::uint32_t first, std::uint32_t last) override;

 private:
  static constexpr std::size_t kSplits = 3;

  // With `free` each chunk is freed after its edges have been distributed.
  SortedEdges(EdgeChunks& chunks, const PartitionLayout& partitions, bool free);

  // Distributes the edges of one row of cells, [begin, end) of all, over its cells and sets their begins.
  void SortRow(std::uint32_t row, std::uint64_t begin, std::uint64_t end);

  PartitionLayout partitions_;
  std::vector<std::uint64_t> begin_;  // of cell * 3 + split; one more for the end
  // Raw bytes that no constructor touches: a page becomes resident with its first edge, after chunks were freed.
  std::unique_ptr<std::byte[]> memory_;
  EdgeRecord* edges_ = nullptr;  // [begin_.back()], in memory_
};

// The order of the edges in a cell: by a hash of (head, relation, tail); ties by these three, the split and the weight.
// Pseudo-random, and a function of the edges alone. Copies of an edge are adjacent, those of train first.
struct KeyedEdge {
  std::uint64_t key;
  EdgeRecord edge;
};
std::uint64_t OrderKey(const EdgeRecord& edge);
bool OrderedBefore(const KeyedEdge& a, const KeyedEdge& b);

// Whether two edges have the same head, relation and tail.
inline bool SameTriple(const EdgeRecord& a, const EdgeRecord& b) {
  return a.head == b.head && a.tail == b.tail && a.relation() == b.relation();
}

// Sorts the edges of one cell into this order.
void OrderCell(std::span<EdgeRecord> edges);
// The same with memory for another call.
void OrderCell(std::span<EdgeRecord> edges, std::vector<KeyedEdge>& memory);

// For the edges of one split. Counts edges with the same head, relation and tail as their predecessor. With `merge`
// they are removed, and their weights are added, in ascending order, to the one that is kept. Returns how many edges
// are kept at the head of `edges`. REQUIRES: OrderCell(edges)
std::size_t HandleDuplicates(std::span<EdgeRecord> edges, bool merge, std::uint64_t& duplicates);

// Returns how many of `edges` have the head, relation and tail of an edge in `train`. REQUIRES: OrderCell of both
std::uint64_t CountShared(std::span<const EdgeRecord> edges, std::span<const EdgeRecord> train);

}  // namespace octavo
