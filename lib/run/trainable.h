// Whether a graph can be trained with given options.
#pragma once

#include "absl/status/status.h"
#include "graph/graph.h"
#include "run/options.h"

namespace octavo {

// Returns a usage error if the graph lacks edges that the options need.
absl::Status CheckTrainable(const Graph& graph, const TrainOptions& options);

}  // namespace octavo
