// Graphs to walk on, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/imported_graph.h"
#include "walk/adjacency.h"

namespace octavo {

// `edges` lines between `nodes` nodes, the first of which are in most of them; some edges lead back, some nodes are
// dead ends.
inline std::string RandomEdges(std::uint64_t nodes, std::uint64_t edges, bool weights, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  for (std::uint64_t i = 0; i < edges; ++i) {
    const std::uint64_t head = random() % nodes * (random() % nodes) / nodes;
    const std::uint64_t tail = random() % 3 == 0 ? random() % 20 : random() % nodes;
    text += weights ? fmt::format("n{}\tn{}\t{}\n", head, tail, 0.25 * static_cast<double>(1 + random() % 12))
                    : fmt::format("n{}\tn{}\n", head, tail);
  }
  return text;
}

inline std::vector<Edge> TrainEdges(const Graph& graph) { return graph.Edges(Split::kTrain).ReadAll().value(); }

// The neighbours of the whole graph.
inline Adjacency AllRows(const Graph& graph) {
  const CellReader& cells = graph.Edges(Split::kTrain);
  return Adjacency::Build(cells, JoinPartitions(PartitionRanges(cells), true, UINT64_MAX).front()).value();
}

// Zachary's karate club: u<TAB>v, one line per friendship.
inline std::string KarateText() { return FileBytes(OCTAVO_KARATE); }

}  // namespace octavo
