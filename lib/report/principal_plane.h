// The plane in which given embeddings differ most: principal component analysis (Pearson 1901) to two dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

struct PrincipalPlane {
  std::vector<std::array<double, 2>> points;  // [nodes, 2]: coordinates on the two axes, the mean at 0
  std::array<double, 2> variance_shares{};    // of all variance, by axis, falling; 0 where there is none
};

// The least `memory_bytes` of what follows.
std::uint64_t LeastPlaneMemory(const EmbeddedGraph& embedded, std::uint64_t nodes);

// Returns the points of the rows of `nodes`, in that order. Mean and covariance are summed in order of the ids, in
// double precision, the rows being read three times and not held; the axes are those of Eigen's symmetric eigensolver,
// each turned so that its entry of the largest magnitude (the first such) is positive. A function of rows and nodes:
// the same bits for any memory. A NaN or infinite value is an error that names its place. REQUIRES: every node is below
// graph.node_count() and stands once
absl::StatusOr<PrincipalPlane> ProjectNodes(const EmbeddedGraph& embedded, std::span<const std::uint64_t> nodes,
                                            std::uint64_t memory_bytes);

}  // namespace octavo
