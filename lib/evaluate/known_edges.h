// Which of a number of triples are edges of a graph, in train, valid or test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "graph/graph.h"

namespace octavo {

// Returns 1 for each triple that is an edge, 0 for the others; weights mean nothing. With `either_way` an edge from
// tail to head counts, too. Streams the edges of all splits once, in parallel.
absl::StatusOr<std::vector<char>> FindEdges(const Graph& graph, std::span<const Edge> triples, bool either_way);

// What FindEdges holds for each triple: its place in a hash map that may have just grown, and the answer.
inline constexpr std::uint64_t kFindEdgeBytes = 96;
// And for each thread: a block of edges, as it is read and decoded.
inline constexpr std::uint64_t kFindEdgesThreadBytes = std::uint64_t{512} << 10;

}  // namespace octavo
