// Writes train.cells, valid.cells and test.cells.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "format/cells.h"
#include "format/paths.h"
#include "import/cell_sorter.h"

namespace octavo {

// Arrays are indexed by Part.
struct WrittenEdges {
  std::array<CellsHeader, 3> headers;
  std::array<std::uint64_t, 3> duplicates{};        // copies of an edge that is in the same part
  std::array<std::uint64_t, 3> also_in_train{};     // valid and test only
  std::vector<std::uint64_t> relation_train_edges;  // by relation
};

struct EdgeWriterOptions {
  bool merge_duplicates = true;
  std::function<bool()> stop;                         // may be empty; asked between cells
  std::function<void(std::uint64_t edges)> progress;  // may be empty; from one thread at a time
};

// Orders, deduplicates and writes all cells, several at a time; the bytes depend on the edges alone. `layout` gives the
// headers everything but counts and checksums.
absl::StatusOr<WrittenEdges> WriteEdges(const GraphPaths& paths, SortedEdges& edges, const CellsHeader& layout,
                                        const EdgeWriterOptions& options);

}  // namespace octavo
