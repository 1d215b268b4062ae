// Edges listed in a file by the names of a graph: negatives that a benchmark gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "evaluate/node_labels.h"
#include "graph/graph.h"

namespace octavo {

struct EdgeList {
  std::vector<Edge> edges;  // in the order of the file; all weights are 1
  UnknownNames unknown;     // lines with a node or a relation that the graph lacks, which are left out
};

// Reads lines "head<TAB>relation<TAB>tail" of a text file, plain, .gz or .zst ("-": standard input); without tabs,
// blanks separate. In a graph with one relation, lines may be "head<TAB>tail". Skips lines that are blank or begin with
// # or %.
//
// Any other line is an input error "file:line: found, expected". Lines with unknown names are counted; a file without
// any edge between nodes of the graph is an input error. More edges than fit `max_bytes` are a usage error.
absl::StatusOr<EdgeList> ReadEdgeList(const Graph& graph, const std::string& path, std::uint64_t max_bytes);

}  // namespace octavo
