// Which of a number of triples are edges of a graph, in train, valid or test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "graph/graph.h"

namespace octavo {

// What makes a triple an edge beside the edge itself.
struct EdgeMatch {
  bool either_way = false;    // one from tail to head
  bool any_relation = false;  // one of another relation

  friend bool operator==(const EdgeMatch&, const EdgeMatch&) = default;
};

// Returns 1 for each triple that is an edge, 0 for the others; weights mean nothing. Streams the edges of all splits
// once, in parallel.
absl::StatusOr<std::vector<char>> FindEdges(const Graph& graph, std::span<const Edge> triples, const EdgeMatch& match);

// What FindEdges holds for each triple: its place in a hash map that may have just grown, and the answer.
inline constexpr std::uint64_t kFindEdgeBytes = 96;
// And for each thread: a block of edges, as it is read and decoded.
inline constexpr std::uint64_t kFindEdgesThreadBytes = std::uint64_t{512} << 10;

}  // namespace octavo
