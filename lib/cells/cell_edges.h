// Edges in memory, by cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cells/edge_record.h"

namespace octavo {

// How the nodes are partitioned.
struct PartitionLayout {
  std::uint64_t rows = 0;  // a multiple of kPartitionRowQuantum
  std::uint32_t count = 0;
};

// The edges of some consecutive cells. Different cells may be used by different threads.
class CellEdges {
 public:
  virtual ~CellEdges() = default;

  virtual const PartitionLayout& partitions() const = 0;
  // The number of edges of a cell.
  virtual std::uint64_t Size(std::uint32_t cell) const = 0;
  // The edges of a cell, in at most most_runs() runs, each with train before valid before test. The caller may reorder
  // them.
  virtual std::vector<std::span<EdgeRecord>> Runs(std::uint32_t cell) = 0;
  virtual std::size_t most_runs() const = 0;
  // The edges of cells [first, last) are not used any more: their memory may be freed.
  virtual void Release(std::uint32_t first, std::uint32_t last) = 0;
};

}  // namespace octavo
