// The neighbours of the nodes of some partitions, in rows; walks read them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/spill_file.h"
#include "graph/cell_reader.h"

namespace octavo {

// Consecutive partitions with their nodes and their rows' entries.
struct PartitionRange {
  std::uint32_t first_partition = 0;
  std::uint32_t end_partition = 0;
  std::uint64_t first_node = 0;
  std::uint64_t end_node = 0;
  std::uint64_t edges = 0;
};

// Constant after construction; any thread. A row depends only on the graph: tails ascend; copies of an edge ascend by
// weight.
class Adjacency {
 public:
  // The bytes needed for so many nodes and edges.
  static std::uint64_t BytesOf(std::uint64_t nodes, std::uint64_t edges, bool weighted);

  // Reads the edges whose heads are in `range`; with `both_ways` also those whose tails are, as edges in the opposite
  // direction. Parallel. If `cells` drops behind, at most a few of its blocks per thread stay in the page cache.
  static absl::StatusOr<Adjacency> Build(const CellReader& cells, const PartitionRange& range, bool both_ways = false);

  // Writes to a temporary file; Load reads it back.
  absl::StatusOr<SpillExtent> Save(SpillFile& file) const;
  static absl::StatusOr<Adjacency> Load(const SpillFile& file, const SpillExtent& extent, const PartitionRange& range,
                                        bool weighted);

  bool Has(std::uint32_t node) const { return node >= first_node_ && node - first_node_ + 1 < begin_.size(); }
  // REQUIRES here and below: Has(node)
  std::span<const std::uint32_t> Neighbours(std::uint32_t node) const {
    const std::uint64_t begin = begin_[node - first_node_];
    return {tails_.data() + begin, begin_[node - first_node_ + 1] - begin};
  }
  // Prefix sums of the weights, including each neighbour itself; empty if the graph has no weights.
  std::span<const double> WeightSums(std::uint32_t node) const {
    if (sums_.empty()) return {};
    const std::uint64_t begin = begin_[node - first_node_];
    return {sums_.data() + begin, begin_[node - first_node_ + 1] - begin};
  }
  bool HasEdge(std::uint32_t node, std::uint32_t tail) const {
    return std::ranges::binary_search(Neighbours(node), tail);
  }

 private:
  struct Blocks;
  absl::Status Count(const Blocks& blocks);
  absl::Status Fill(const Blocks& blocks);
  void SortRows();

  std::uint64_t first_node_ = 0;
  std::vector<std::uint64_t> begin_;  // [nodes + 1]
  std::vector<std::uint32_t> tails_;  // [edges]
  std::vector<double> sums_;          // [edges] or empty
};

// The partitions of `cells`, one range each. With `both_ways` an edge counts at both of its ends.
std::vector<PartitionRange> PartitionRanges(const CellReader& cells, bool both_ways = false);

// Joins adjacent `partitions` as long as the adjacency of the joined range takes at most `bytes`. A larger partition
// stays alone.
std::vector<PartitionRange> JoinPartitions(std::span<const PartitionRange> partitions, bool weighted,
                                           std::uint64_t bytes);

}  // namespace octavo
