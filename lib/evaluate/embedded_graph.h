// A graph with the embeddings trained on it, and what every reader of both needs.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "base/ids.h"
#include "graph/graph.h"
#include "model/model_spec.h"
#include "tables/table_reader.h"

namespace octavo {

// References only. Constant; any thread.
struct EmbeddedGraph {
  const Graph& graph;
  const TableReader& embeddings;     // [graph.node_count(), model.dim]
  std::span<const float> relations;  // [relation_count, or twice that if reciprocal, model.RelationWidth()]
  ModelSpec model;
  bool reciprocal = false;
};

// Checks that the shapes of the tables match graph and model, and that every relation parameter is finite.
absl::Status CheckEmbeddedGraph(const EmbeddedGraph& embedded);

// Checks that `rows` [n, dim], the embeddings of the nodes from `first` on, are finite. The error names the first row
// that is not finite, its node and column.
absl::Status CheckFinite(const EmbeddedGraph& embedded, std::uint64_t first, std::span<const float> rows);

// Computes the query to compare with the candidates for `side` of an edge whose other end has the row `known`. With
// reciprocal relations, the head side of r is the tail side of r's inverse. known, query: [dim]
// REQUIRES: relation < graph.relation_count()
void MakeLinkQuery(const EmbeddedGraph& embedded, Side side, RelationId relation, std::span<const float> known,
                   std::span<float> query);

}  // namespace octavo
