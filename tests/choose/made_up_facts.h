// Facts of a graph that does not exist, and its description.
#pragma once

#include <cstdint>

#include "choose/graph_facts.h"
#include "format/graph_description.h"

namespace octavo {

inline GraphFacts Facts(std::uint64_t nodes, std::uint64_t edges, std::uint64_t relations) {
  const double degree = 2 * static_cast<double>(edges) / static_cast<double>(nodes);
  return {.nodes = nodes, .edges = edges, .relations = relations, .query_share = 0.5, .end_degree = degree};
}

// Of the description only what an estimate of memory reads.
inline GraphDescription DescriptionOf(const GraphFacts& facts) {
  GraphDescription graph;
  graph.node_count = facts.nodes;
  graph.relation_count = static_cast<std::uint32_t>(facts.relations);
  graph.partition_rows = (facts.nodes / 64 / kPartitionRowQuantum + 1) * kPartitionRowQuantum;
  graph.partition_count = static_cast<std::uint32_t>((facts.nodes + graph.partition_rows - 1) / graph.partition_rows);
  graph.has_relations = facts.relations > 1;
  graph.train_edges = facts.edges;
  return graph;
}

}  // namespace octavo
