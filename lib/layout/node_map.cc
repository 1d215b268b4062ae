#include "layout/node_map.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "layout/principal_plane.h"

namespace octavo {
namespace {

// The standard deviation of the first axis before the first epoch.
constexpr double kStartSpread = 1;
// Random displacement, relative to the spread: separates nodes whose vectors are the same.
constexpr double kStartNoise = 1e-3;

NeighborOptions NeighborsOf(const MapOptions& options) {
  return {.neighbors = options.neighbors,
          .shard_capacity = options.shard_capacity,
          .threads = options.threads,
          .memory_bytes = options.memory_bytes,
          .scratch_folder = options.scratch_folder,
          .progress = options.progress};
}

// Scales the principal plane and displaces each point a little.
void Start(std::uint64_t seed, std::span<MapPoint> points) {
  double squares = 0;
  for (const MapPoint& point : points) squares += static_cast<double>(point[0]) * static_cast<double>(point[0]);
  const double deviation = std::sqrt(squares / static_cast<double>(points.size()));
  const double scale = deviation > 0 ? kStartSpread / deviation : 1;
  for (std::uint64_t node = 0; node < points.size(); ++node) {
    RandomStream random(seed, RandomPurpose::kLayoutStart, 0, node);
    for (float& x : points[node]) {
      x = static_cast<float>(static_cast<double>(x) * scale +
                             kStartSpread * kStartNoise * static_cast<double>(random.NextNormal()));
    }
  }
}

void MoveMeanToOrigin(std::span<MapPoint> points) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    double sum = 0;
    for (const MapPoint& point : points) sum += static_cast<double>(point[axis]);
    const auto mean = static_cast<float>(sum / static_cast<double>(points.size()));
    for (MapPoint& point : points) point[axis] -= mean;
  }
}

absl::Status PlaceOnPlane(const EmbeddedGraph& embedded, const MapOptions& options, std::uint64_t memory_bytes,
                          NodeMap& map) {
  map.points.resize(embedded.graph.node_count());
  ASSIGN_OR_RETURN(map.variance_shares,
                   ProjectAllNodes(
                       embedded, memory_bytes,
                       [&](std::uint64_t node, const std::array<double, 2>& point) {
                         map.points[node] = {static_cast<float>(point[0]), static_cast<float>(point[1])};
                       },
                       [&](double share) {
                         if (options.progress) {
                           options.progress("finding the axes", share,
                                            static_cast<std::uint64_t>(share * static_cast<double>(map.points.size())));
                         }
                       }));
  return absl::OkStatus();
}

}  // namespace

std::uint64_t LeastMapBytes(const EmbeddedGraph& embedded, const MapOptions& options) {
  const std::uint64_t nodes = embedded.graph.node_count();
  const std::uint64_t points = nodes * sizeof(MapPoint);
  const std::uint64_t plane = points + LeastPlaneMemory(embedded, 0);
  if (options.kind == MapKind::kPrincipal) return plane;
  return std::max({plane, points + LayoutBytes(2 * std::uint64_t{options.neighbors}, options.threads),
                   LeastNeighborBytes(nodes, embedded.model.dim, NeighborsOf(options))});
}

absl::StatusOr<NodeMap> MakeNodeMap(const EmbeddedGraph& embedded, const MapOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  NodeMap map;
  const std::uint64_t nodes = embedded.graph.node_count();
  const std::uint64_t point_bytes = nodes * sizeof(MapPoint);
  const std::uint64_t beside_points = options.memory_bytes - std::min(options.memory_bytes, point_bytes);
  if (options.kind == MapKind::kPrincipal) {
    RETURN_IF_ERROR(PlaceOnPlane(embedded, options, beside_points, map));
    return map;
  }
  // The lists stay in memory only if the work after them still has room.
  NeighborOptions neighbors = NeighborsOf(options);
  const std::uint64_t after =
      point_bytes +
      std::max(LeastPlaneMemory(embedded, 0), LayoutBytes(2 * std::uint64_t{options.neighbors}, options.threads));
  neighbors.list_bytes = options.memory_bytes - std::min(options.memory_bytes, after);
  ASSIGN_OR_RETURN(const ScratchTable lists, FindNeighbors(embedded, neighbors));
  RETURN_IF_ERROR(PlaceOnPlane(embedded, options, LeastPlaneMemory(embedded, 0), map));
  map.variance_shares = {};
  Start(options.seed, map.points);
  const LayoutOptions layout = {.epochs = options.epochs, .seed = options.seed, .progress = [&](double share) {
                                  if (!options.progress) return;
                                  options.progress(
                                      "moving the nodes", share,
                                      static_cast<std::uint64_t>(share * options.epochs * static_cast<double>(nodes)));
                                }};
  RETURN_IF_ERROR(OptimizeLayout(lists, layout, map.points));
  MoveMeanToOrigin(map.points);
  return map;
}

}  // namespace octavo
