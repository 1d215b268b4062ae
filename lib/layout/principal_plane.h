// The plane in which given embeddings differ most: principal component analysis (Pearson 1901) in two dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

struct PrincipalPlane {
  std::vector<std::array<double, 2>> points;  // [nodes, 2]: coordinates on the two axes, relative to the mean
  std::array<double, 2> variance_shares{};    // shares of the total variance, descending; 0 if there is no variance
};

// The smallest `memory_bytes` that ProjectNodes respects.
std::uint64_t LeastPlaneMemory(const EmbeddedGraph& embedded, std::uint64_t nodes);

// Returns the points of the rows of `nodes`, in that order. Mean and covariance are summed in id order in double
// precision; the rows are read three times and not held. The axes are those of Eigen's symmetric eigensolver, with the
// sign that makes the first entry of the largest magnitude positive. A function of rows and nodes: the same bits for
// any memory. A NaN or infinite value is an error that names its place.
// REQUIRES: nodes are below graph.node_count() and distinct
absl::StatusOr<PrincipalPlane> ProjectNodes(const EmbeddedGraph& embedded, std::span<const std::uint64_t> nodes,
                                            std::uint64_t memory_bytes);

// The same for all nodes of the graph, whose points are passed to `use` in id order instead of being held.
// `progress` is called with the share done.
absl::StatusOr<std::array<double, 2>> ProjectAllNodes(
    const EmbeddedGraph& embedded, std::uint64_t memory_bytes,
    const std::function<void(std::uint64_t, const std::array<double, 2>&)>& use,
    const std::function<void(double)>& progress = {});

}  // namespace octavo
