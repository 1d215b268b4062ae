#include "serve/map_places.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "format/map_header.h"
#include "layout/map_file.h"
#include "layout/principal_plane.h"

namespace octavo {
namespace {

// Points that are taken from the mapping before its pages are let go.
constexpr std::uint64_t kTakenPoints = 1 << 17;

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool IsPlain(const std::string& path) { return !Exists(MapHeaderPath(path)); }

absl::StatusOr<MapFile> OpenMap(const std::string& path, const MappedRun& run) {
  ASSIGN_OR_RETURN(MapFile map, MapFile::Open(path));
  RETURN_IF_ERROR(map.CheckRun(run.run_id, run.nodes, run.folder));
  return map;
}

// Takes points of successive nodes and keeps those of the wanted nodes.
class Chosen {
 public:
  Chosen(std::span<const std::uint64_t> nodes, std::vector<MapPoint>& points) : nodes_(nodes), points_(points) {}

  void Take(std::uint64_t first, std::span<const MapPoint> points) {
    if (nodes_.empty()) {
      points_.insert(points_.end(), points.begin(), points.end());
      return;
    }
    while (points_.size() < nodes_.size() && nodes_[points_.size()] < first + points.size()) {
      points_.push_back(points[nodes_[points_.size()] - first]);
    }
  }

 private:
  std::span<const std::uint64_t> nodes_;
  std::vector<MapPoint>& points_;
};

absl::StatusOr<MapPlaces> ReadPlaces(const MappedRun& run, const std::string& path,
                                     std::span<const std::uint64_t> nodes) {
  MapPlaces places;
  places.points.reserve(nodes.empty() ? run.nodes : nodes.size());
  Chosen chosen(nodes, places.points);
  if (IsPlain(path)) {
    places.layout = "file";
    RETURN_IF_ERROR(ReadPlainMap(path, run.nodes, [&](std::uint64_t first, std::span<const MapPoint> points) {
      chosen.Take(first, points);
      return absl::OkStatus();
    }));
    return places;
  }
  ASSIGN_OR_RETURN(const MapFile map, OpenMap(path, run));
  places.layout = MapKindName(map.header().kind);
  places.variance = map.header().variance_shares;
  places.generation = map.header().generation;
  for (std::uint64_t first = 0; first < run.nodes; first += kTakenPoints) {
    chosen.Take(first, map.points().subspan(first, std::min(kTakenPoints, run.nodes - first)));
    map.ForgetPoints();
  }
  return places;
}

MapPoint ToPoint(const std::array<double, 2>& point) {
  return {static_cast<float>(point[0]), static_cast<float>(point[1])};
}

absl::StatusOr<MapPlaces> ProjectPlaces(const EmbeddedGraph& embedded, std::span<const std::uint64_t> nodes) {
  MapPlaces places;
  places.layout = MapKindName(MapKind::kPrincipal);
  if (nodes.empty()) {
    places.points.resize(embedded.graph.node_count());
    ASSIGN_OR_RETURN(places.variance, ProjectAllNodes(embedded, LeastPlaneMemory(embedded, 0),
                                                      [&](std::uint64_t node, const std::array<double, 2>& point) {
                                                        places.points[node] = ToPoint(point);
                                                      }));
    return places;
  }
  ASSIGN_OR_RETURN(const PrincipalPlane plane, ProjectNodes(embedded, nodes, LeastPlaneMemory(embedded, nodes.size())));
  places.variance = plane.variance_shares;
  places.points.reserve(nodes.size());
  for (const std::array<double, 2>& point : plane.points) places.points.push_back(ToPoint(point));
  return places;
}

}  // namespace

absl::StatusOr<std::optional<std::uint64_t>> CheckMap(const std::string& path, const MappedRun& run) {
  if (IsPlain(path)) {
    RETURN_IF_ERROR(
        ReadPlainMap(path, run.nodes, [](std::uint64_t, std::span<const MapPoint>) { return absl::OkStatus(); }));
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(const MapFile map, OpenMap(path, run));
  return std::optional(map.header().generation);
}

std::string FindMap(const MappedRun& run, const std::function<void(std::string_view)>& warn) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(run.folder, error).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();  // a slash at the end
  const std::string inside = (folder / "map.npy").string();
  if (Exists(inside)) {
    const auto checked = CheckMap(inside, run);
    if (checked.ok()) return inside;
    warn(fmt::format("{}; the map shows principal components", MessageOf(checked.status())));
  }
  const std::string beside = (folder.parent_path() / "map.npy").string();
  return !IsPlain(beside) && CheckMap(beside, run).ok() ? beside : "";
}

std::uint64_t MapPlaceBytes(const EmbeddedGraph& embedded) {
  return LeastPlaneMemory(embedded, 0) + kTakenPoints * sizeof(MapPoint);
}

absl::StatusOr<MapPlaces> PlaceNodes(const EmbeddedGraph& embedded, const MappedRun& run, const std::string& path,
                                     std::span<const std::uint64_t> nodes) {
  return path.empty() ? ProjectPlaces(embedded, nodes) : ReadPlaces(run, path, nodes);
}

}  // namespace octavo
