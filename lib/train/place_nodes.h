// The nodes at each place, which is a side of a relation (graph/node_places.h): those that the training edges have
// there. Typed negatives are drawn from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "format/graph_description.h"
#include "graph/graph.h"
#include "model/negatives.h"

namespace octavo {

// Constant after construction; any thread.
class PlaceNodes {
 public:
  // Reads the training edges at least once. A place with more than its share of what all places may hold keeps a
  // uniform sample of its nodes. A pure function of graph and seed. `stop` may be empty; when it returns true, the
  // result is absl::CancelledError.
  static absl::StatusOr<PlaceNodes> Gather(const Graph& graph, std::uint64_t seed, const std::function<bool()>& stop);

  // Returns a bound of what one holds, and of what Gather takes, with a second one of the nodes in some ranges.
  static std::uint64_t MostBytes(const GraphDescription& graph);

  // Ascending and distinct. REQUIRES: place < PlaceCount(graph)
  std::span<const NodeId> At(std::uint64_t place) const {
    return std::span(nodes_).subspan(offsets_[place], offsets_[place + 1] - offsets_[place]);
  }

  // Those of the nodes in `ranges`, which ascend.
  PlaceNodes In(std::span<const NodeRange> ranges) const;

  // Fills `negatives`, each with a node at the place of an edge that is drawn from `places`, both uniformly; where the
  // place has none, with one of the `ranges`. A pure function of the arguments.
  // REQUIRES: places and ranges are not empty
  void Sample(RandomStream stream, std::span<const std::uint64_t> places, std::span<const NodeRange> ranges,
              std::span<NodeId> negatives) const;

  // The most nodes that all places hold together, if they are of some size.
  static constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 22;
  static constexpr std::uint64_t kLeastNodesOfPlace = 64;  // which each may hold, however many places there are

 private:
  std::vector<std::uint64_t> offsets_;  // [places + 1]
  std::vector<NodeId> nodes_;           // of place p: [offsets_[p], offsets_[p + 1])
};

}  // namespace octavo
