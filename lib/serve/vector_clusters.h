// Clusters of the nodes' vectors, to colour a map.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

inline constexpr std::uint64_t kClusters = 12;  // as many as there are colours that people can tell apart

// Memory held in addition to the result.
std::uint64_t ClusterBytes(const EmbeddedGraph& embedded);

// Returns the cluster of each of `nodes` (ascending; empty: all), 0 to kClusters - 1: spherical k-means (Dhillon and
// Modha, Machine Learning 2001) of a sample of evenly spaced rows, then the nearest centre for each row. Clusters are
// numbered by descending size in the sample. A pure function of the rows. `stop` ends it with a cancelled error.
absl::StatusOr<std::vector<std::uint8_t>> ClusterVectors(const EmbeddedGraph& embedded,
                                                         std::span<const std::uint64_t> nodes,
                                                         const std::function<bool()>& stop);

}  // namespace octavo
