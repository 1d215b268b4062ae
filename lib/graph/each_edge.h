// Reads all edges of a split, one after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "base/status.h"
#include "graph/cell_reader.h"

namespace octavo {

// Calls use(edge) for each edge, in the order of the file. Holds one block of edges in memory, and leaves none in the
// page cache. Ends with absl::CancelledError soon after `stop`, which may be empty, returns true.
template <typename Use>
absl::Status ForEachEdge(const CellReader& cells, const std::function<bool()>& stop, const Use& use) {
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    if (stop && stop()) return absl::CancelledError("reading the edges was stopped");
    edges.resize(cells.block(block).edges);
    RETURN_IF_ERROR(cells.ReadBlock(block, edges, scratch));
    cells.Forget(block, block + 1);
    for (const Edge& edge : edges) use(edge);
  }
  return absl::OkStatus();
}

}  // namespace octavo
