// Finds which of some triples are edges of a graph, in train, valid or test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "graph/graph.h"

namespace octavo {

// Which edges, besides the triple itself, make it count as an edge.
struct EdgeMatch {
  bool either_way = false;    // also the reverse edge, from tail to head
  bool any_relation = false;  // also an edge with another relation

  friend bool operator==(const EdgeMatch&, const EdgeMatch&) = default;
};

// Returns 1 for each triple that is an edge, 0 for the others; ignores weights. Reads the edges of all splits once, in
// parallel.
absl::StatusOr<std::vector<char>> FindEdges(const Graph& graph, std::span<const Edge> triples, const EdgeMatch& match);

// Memory of FindEdges for each triple: its entry in a hash map that may have just grown, and the answer.
inline constexpr std::uint64_t kFindEdgeBytes = 96;
// Memory for each thread: one block of edges, encoded and decoded.
inline constexpr std::uint64_t kFindEdgesThreadBytes = std::uint64_t{512} << 10;

}  // namespace octavo
