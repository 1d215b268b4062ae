// A run with its graph as what searches and rankings read.
#pragma once

#include "evaluate/embedded_graph.h"
#include "run/trained_run.h"

namespace octavo {

// Refers to `run`.
inline EmbeddedGraph EmbeddedOf(const TrainedRun& run) {
  return {*run.graph, run.embeddings, run.relations, run.model, run.reciprocal};
}

}  // namespace octavo
