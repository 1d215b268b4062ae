// The points of a run's map: every node, or those with the highest degrees, as coordinates with what colours them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/node_labels.h"
#include "serve/map_places.h"

namespace octavo {

struct MapPoints {
  // Without `nodes`, point i is node i.
  std::uint64_t count = 0;
  std::vector<std::uint64_t> nodes;
  std::uint64_t generation = 0;  // of the commit
  std::string layout;            // as of MapPlaces, also the next two
  std::array<double, 2> variance{};
  std::optional<std::uint64_t> placed_generation;
  std::vector<std::string> types;    // the sides of relations at which nodes are: "head of r"
  std::vector<std::string> classes;  // of the file of classes; the first is for nodes without one
  std::uint64_t clusters = 0;
  std::vector<std::uint32_t> degrees;        // [count]
  std::shared_ptr<const std::string> bytes;  // records of kMapRecordBytes, little-endian: x f32, y f32 in [-1, 1],
                                             // range of the degree u8 (DegreeNorms), type u8, cluster u8, class u8

  std::uint64_t NodeOf(std::uint64_t point) const { return nodes.empty() ? point : nodes[point]; }
};

inline constexpr std::uint64_t kMapRecordBytes = 12;
// Memory of a point while the map is made, and kept.
inline constexpr std::uint64_t kMapPointBytes = 80;
// What making a map holds apart from its points.
std::uint64_t MapWorkBytes(const EmbeddedGraph& embedded);

struct MapPointOptions {
  std::uint64_t most_nodes = 0;
  MappedRun run = {};
  std::string file = {};                 // with the places of the nodes; empty: principal components
  const NodeLabels* classes = nullptr;   // null: none
  std::function<bool()> stop = nullptr;  // ends it with a cancelled error
};

// Makes the points: a pure function of graph, tables and options. Reads the edges and the table a few times.
// - type: the side of a relation at which most training edges have the node, if it is more than half of them; otherwise
//   one of the frequent ones (Boyer and Moore's vote). The 255 with the most nodes are kept, the others are one type.
// - cluster: k-means of the vectors, divided by their norms.
absl::StatusOr<MapPoints> MakeMapPoints(const EmbeddedGraph& embedded, const MapPointOptions& options);

}  // namespace octavo
