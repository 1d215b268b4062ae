// The oracle of a whole training: serial, in memory, in double, by plain loops. Scores, losses and penalties are those
// of tests/support/naive_model.h; gradients are central differences joined by the chain rule; optimizers and learning
// rates are written out here. With bf16 products, what they round is rounded here (tests/support/naive_bf16.h), query
// by query: not for groups, whose slopes are added before they are rounded. From lib/ it uses only the sources of
// randomness: initial rows, order of the partitions and edges, drawn negatives.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "run/options.h"

namespace octavo {

using NaiveRows = std::vector<std::vector<double>>;

struct NaiveRun {
  NaiveRows embeddings;
  NaiveRows optimizer;
  NaiveRows relations;
  NaiveRows relation_optimizer;
  std::vector<double> losses;     // of each epoch, mean over the edges' two sides
  std::vector<double> penalties;  // likewise
};

// A warm start.
struct NaiveBeginning {
  NaiveRun rows;
  int step = 0;                             // updates that the optimizer state has seen
  const CellReader* edges = nullptr;        // the edges that are trained
  std::vector<bool> frozen = {};            // nodes that are never updated; empty: none
  std::vector<bool> frozen_relations = {};  // relation rows, the same
};

// Trains options.epochs epochs; partitions auto is one. REQUIRES: a state's edges fit one window (run/options.h)
NaiveRun TrainNaively(const Graph& graph, const TrainOptions& options);
NaiveRun TrainNaively(const Graph& graph, const TrainOptions& options, const NaiveBeginning& beginning);

}  // namespace octavo
