// Gathers the rows of given nodes from the embedding table, in any order, and passes each to its user.
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

// A node whose row is wanted, and the index of its user.
struct WantedRow {
  std::uint64_t node = 0;
  std::uint32_t index = 0;

  friend auto operator<=>(const WantedRow&, const WantedRow&) = default;
};

// Calls `use(index, row)` for each entry of `wanted`, in parallel; sorts `wanted`. Checks rows for NaN and infinity;
// the error is that of the first such node. Holds a node id for each entry and twice `max_bytes`, or twice a row for
// each thread if that is more (VisitRows). row: [dim], valid during the call.
// REQUIRES: every node < graph.node_count()
absl::Status ForEachWantedRow(const EmbeddedGraph& embedded, std::vector<WantedRow>& wanted, std::uint64_t max_bytes,
                              absl::FunctionRef<void(std::size_t index, std::span<const float> row)> use);

}  // namespace octavo
