// The places of nodes: the sides of relations at which the training edges have them. All places of a relation's heads
// are its domain, those of its tails its range, as far as the training edges show them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "graph/graph.h"

namespace octavo {

// Places are numbered: 2r is the head of relation r, 2r + 1 its tail.
constexpr std::uint64_t HeadPlace(RelationId relation) { return 2 * std::uint64_t{Value(relation)}; }
constexpr std::uint64_t TailPlace(RelationId relation) { return HeadPlace(relation) + 1; }
inline std::uint64_t PlaceCount(const Graph& graph) { return 2 * std::uint64_t{graph.relation_count()}; }

struct NodePlace {
  std::uint64_t node = 0;
  std::uint64_t place = 0;

  friend auto operator<=>(const NodePlace&, const NodePlace&) = default;
};

// The places of the nodes [first, last). Constant after Gather; any thread.
class NodePlaces {
 public:
  // Memory of one pair of a node and a place: in the buffer of a thread, which may just have grown, and in the result.
  static constexpr std::uint64_t kBytes = 48;

  // Reads the training edges at the nodes, in parallel; skips cells without them. Returns empty, as early as possible,
  // if there may be more than `max_pairs` distinct pairs, unless it is one node: its pairs are at most PlaceCount.
  // REQUIRES: first < last <= graph.node_count()
  static absl::StatusOr<std::optional<NodePlaces>> Gather(const Graph& graph, std::uint64_t first, std::uint64_t last,
                                                          std::uint64_t max_pairs);

  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return last_; }
  // Ascending and distinct.
  std::span<const NodePlace> pairs() const { return pairs_; }
  // Those of the nodes [begin, end).
  std::span<const NodePlace> In(std::uint64_t begin, std::uint64_t end) const;

 private:
  NodePlaces(std::uint64_t first, std::uint64_t last, std::vector<NodePlace> pairs)
      : first_(first), last_(last), pairs_(std::move(pairs)) {}

  std::uint64_t first_;
  std::uint64_t last_;
  std::vector<NodePlace> pairs_;
};

// Calls `visit` with the places of nodes [first, last), in order, in pieces of at most `max_pairs` nodes that hold at
// most `max_pairs` pairs, or of one node. A piece with more is halved, and its cells are read again. Stops at the first
// error. REQUIRES: max_pairs > 0
absl::Status VisitNodePlaces(const Graph& graph, std::uint64_t first, std::uint64_t last, std::uint64_t max_pairs,
                             const std::function<absl::Status(const NodePlaces&)>& visit);

// Whether a training edge has `node` at either end. Reads cells that may have one, on the calling thread, until it
// finds one. REQUIRES: node is a node of the graph
absl::StatusOr<bool> HasTrainingEdge(const Graph& graph, NodeId node);

}  // namespace octavo
