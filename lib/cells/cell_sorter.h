// Distributes the edges of a graph over its cells, puts each cell into its order and takes out duplicates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cells/edge_record.h"

namespace octavo {

// How the nodes are partitioned.
struct PartitionLayout {
  std::uint64_t rows = 0;  // a multiple of kPartitionRowQuantum
  std::uint32_t count = 0;
};

// At most 64 partitions, so that there are at most 4,096 cells of each part; more than that brings no finer memory
// budget and costs a block each.
PartitionLayout PartitionLayoutFor(std::uint64_t node_count);

// All edges that stay, with final ids, cell by cell (row-major) and within a cell part by part.
class SortedEdges {
 public:
  // Takes the edges, which have final ids, out of `runs`, and frees each run once it is distributed. Parallel. Within a
  // cell and part the order is that of chance: OrderCell makes it deterministic.
  SortedEdges(EdgeRuns runs, const PartitionLayout& partitions);

  std::uint32_t cell_count() const { return partitions_.count * partitions_.count; }
  const PartitionLayout& partitions() const { return partitions_; }
  std::span<EdgeRecord> Edges(std::uint32_t cell, Part part);
  // All three parts of a cell.
  std::span<EdgeRecord> Cell(std::uint32_t cell);
  std::span<EdgeRecord> All() { return {edges_, begin_.back()}; }
  // Gives the memory of `cells` back, all but a page or two. Nothing looks at their edges any more.
  void Release(std::span<const EdgeRecord> cells);

 private:
  // Distributes the edges of a row of cells, [begin, end) of all, over these, and sets where they begin.
  void SortRow(std::uint32_t row, std::uint64_t begin, std::uint64_t end);

  PartitionLayout partitions_;
  std::vector<std::uint64_t> begin_;  // of cell * 3 + part; one more for the end
  // Bytes, which no constructor touches: a page is there from the first edge in it on, when runs have made room.
  std::unique_ptr<std::byte[]> memory_;
  EdgeRecord* edges_ = nullptr;  // [begin_.back()], in memory_
};

// The order of the edges in a cell: by a hash of (head, relation, tail), ties by the three, the part and the weight. It
// is pseudo-random and depends on the edges alone. Copies of an edge stand together, those of train first.
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

// Sorts edges of one cell into that order.
void OrderCell(std::span<EdgeRecord> edges);

// For the edges of one part. Counts those that have the same head, relation and tail as the one before; with `merge`
// they are taken out and their weights added, in ascending order, to the one that stays. Returns how many edges stay at
// the head of `edges`. REQUIRES: OrderCell(edges)
std::size_t HandleDuplicates(std::span<EdgeRecord> edges, bool merge, std::uint64_t& duplicates);

// Returns how many of `edges` have the head, relation and tail of one in `train`. REQUIRES: OrderCell of both
std::uint64_t CountShared(std::span<const EdgeRecord> edges, std::span<const EdgeRecord> train);

}  // namespace octavo
