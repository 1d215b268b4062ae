// Gathers the rows of given nodes from the table of embeddings, in any order, and hands each to whoever wants it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

// A node whose row is wanted, and the number of what wants it.
struct WantedRow {
  std::uint64_t node = 0;
  std::uint32_t index = 0;

  friend auto operator<=>(const WantedRow&, const WantedRow&) = default;
};

// Calls `use(index, row)` for each wanted row, in parallel, and once for each entry of `wanted`, which it sorts. Rows
// are checked for NaN and infinity; the error is that of the first node that has one. Holds a node id for each entry
// and twice `max_bytes`, or, where that is more, twice a row for each thread (VisitRows). row: [dim], valid during the
// call. REQUIRES: every node < graph.node_count()
absl::Status ForEachWantedRow(const EmbeddedGraph& embedded, std::vector<WantedRow>& wanted, std::uint64_t max_bytes,
                              absl::FunctionRef<void(std::size_t index, std::span<const float> row)> use);

}  // namespace octavo
