// A graph with the embeddings trained on it, and the few things that every reader of the two needs.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "base/ids.h"
#include "graph/graph.h"
#include "model/model_spec.h"
#include "tables/table_reader.h"

namespace octavo {

// Borrows what it names. Constant; any thread.
struct EmbeddedGraph {
  const Graph& graph;
  const TableReader& embeddings;     // [graph.node_count(), model.dim]
  std::span<const float> relations;  // [relation_count, or twice that if reciprocal, model.RelationWidth()]
  ModelSpec model;
  bool reciprocal = false;
};

// Checks that the shapes of the tables fit graph and model, and that every relation parameter is finite.
absl::Status CheckEmbeddedGraph(const EmbeddedGraph& embedded);

// Checks that `rows` [n, dim], the embeddings of the nodes from `first` on, are finite. The error names the first row
// that is not, its node and its column.
absl::Status CheckFinite(const EmbeddedGraph& embedded, std::uint64_t first, std::span<const float> rows);

// Writes the query that is compared with the candidates for `side` of an edge whose other end has the row `known`. With
// reciprocal relations the head side of r is the tail side of r's inverse. known, query: [dim]
// REQUIRES: relation < graph.relation_count()
void MakeLinkQuery(const EmbeddedGraph& embedded, Side side, RelationId relation, std::span<const float> known,
                   std::span<float> query);

}  // namespace octavo
