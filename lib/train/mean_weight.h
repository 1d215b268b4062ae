// The mean weight of a graph's edges, by which losses are divided for people.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "graph/cell_reader.h"

namespace octavo {

// Reads all edges once if they have weights; otherwise, or if all weights are 0, returns 1. The same bits each time.
// Ends with absl::CancelledError soon after `stop`, which may be empty, returns true.
absl::StatusOr<double> MeanWeight(const CellReader& edges, const std::function<bool()>& stop);

}  // namespace octavo
