// Distributes the edges of a graph over its cells, puts each cell into its order and takes out duplicates.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "import/edge_record.h"
#include "import/name_ranking.h"

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
  // Takes the edges out of `runs`, replaces their ids by ranks, and frees each run once it is distributed. Parallel.
  // Within a cell and part the order is that of chance: OrderCell makes it deterministic.
  SortedEdges(EdgeRuns runs, const NameRanking& nodes, const NameRanking& relations, const PartitionLayout& partitions);

  std::uint32_t cell_count() const { return partitions_.count * partitions_.count; }
  const PartitionLayout& partitions() const { return partitions_; }
  std::span<EdgeRecord> Edges(std::uint32_t cell, Part part);

 private:
  PartitionLayout partitions_;
  std::vector<std::uint64_t> begin_;     // of cell * 3 + part; one more for the end
  std::unique_ptr<EdgeRecord[]> edges_;  // [begin_.back()]
};

// Sorts the edges of one cell and part by a hash of (head, relation, tail), ties by the three and the weight: a
// pseudo-random order that depends on the edges alone.
void OrderCell(std::span<EdgeRecord> edges);

// Counts the edges that have the same head, relation and tail as the one before; with `merge` they are taken out and
// their weights added, in ascending order, to the one that stays. Returns how many edges stay at the head of `edges`.
// REQUIRES: OrderCell(edges)
std::size_t HandleDuplicates(std::span<EdgeRecord> edges, bool merge, std::uint64_t& duplicates);

// Returns how many of `edges` have the head, relation and tail of one in `train`. REQUIRES: OrderCell of both
std::uint64_t CountShared(std::span<const EdgeRecord> edges, std::span<const EdgeRecord> train);

}  // namespace octavo
