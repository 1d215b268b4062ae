// A point of the plane for every node of a run: on the two principal axes of the vectors, or near its neighbours.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"
#include "format/map_header.h"
#include "layout/neighbor_graph.h"
#include "layout/neighbor_layout.h"

namespace octavo {

struct MapOptions {
  MapKind kind = MapKind::kNeighbors;
  std::uint64_t seed = 1;
  std::uint32_t epochs = 1000;
  std::uint32_t neighbors = 15;
  int threads = 1;
  std::uint64_t memory_bytes = 0;
  std::filesystem::path scratch_folder = {};
  std::uint64_t shard_capacity = 0;  // as in NeighborOptions
  // Called with what is being done, the share of it that is done, and the number of nodes done, from the calling
  // thread.
  std::function<void(std::string_view, double, std::uint64_t)> progress = {};
};

struct NodeMap {
  std::vector<MapPoint> points;             // [nodes]
  std::array<double, 2> variance_shares{};  // of MapKind::kPrincipal
};

// The smallest memory_bytes with which MakeNodeMap works.
std::uint64_t LeastMapBytes(const EmbeddedGraph& embedded, const MapOptions& options);

// Makes the map. The neighbour layout begins with the principal plane. A function of the embeddings, kind, seed, epochs
// and neighbours: the same bits for any threads and memory. A NaN or infinite value is an error. Runs on TBB.
absl::StatusOr<NodeMap> MakeNodeMap(const EmbeddedGraph& embedded, const MapOptions& options);

}  // namespace octavo
