// Gathers the rows of given nodes from the table of embeddings, in any order, and hands each to whoever wants it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/parallel.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/row_stream.h"

namespace octavo {

// A node whose row is wanted, and the number of what wants it.
struct WantedRow {
  std::uint64_t node = 0;
  std::uint32_t index = 0;

  friend auto operator<=>(const WantedRow&, const WantedRow&) = default;
};

// Calls `use(index, row)` for each wanted row, in parallel, and once for each entry of `wanted`, which it sorts. Rows
// are checked for NaN and infinity. Holds a node id for each entry and twice `max_bytes` (VisitRows). row: [dim], valid
// during the call. REQUIRES: every node < graph.node_count()
template <typename Use>
absl::Status ForEachWantedRow(const EmbeddedGraph& embedded, std::vector<WantedRow>& wanted, std::uint64_t max_bytes,
                              const Use& use) {
  constexpr std::size_t kGrain = 64;  // rows a task: tens of microseconds
  std::sort(wanted.begin(), wanted.end());
  std::vector<std::uint64_t> nodes(wanted.size());
  std::transform(wanted.begin(), wanted.end(), nodes.begin(), [](const WantedRow& row) { return row.node; });
  const auto visit = [&](std::size_t begin, std::size_t end, const RowRun& run) {
    if (absl::Status status = CheckFinite(embedded, run.first, run.values); !status.ok()) return status;
    ParallelRanges(begin, end, kGrain, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) use(wanted[i].index, run.Row(wanted[i].node));
    });
    return absl::OkStatus();
  };
  return VisitRows(embedded.embeddings, nodes, max_bytes, visit);
}

}  // namespace octavo
