// Where the nodes of the served map are: as a file says, or on the principal axes of the vectors.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"
#include "layout/neighbor_layout.h"

namespace octavo {

// The run that a map has to be of.
struct MappedRun {
  std::string folder = {};
  std::array<std::uint64_t, 2> run_id{};
  std::uint64_t nodes = 0;
};

// Reads the map at `path`, and checks it: if FILE.octavo is beside it, as octavo map makes it, it must be undamaged and
// a map of the run; otherwise it must be float32 [nodes, 2]. Returns the generation that it was made from, if it says
// so.
absl::StatusOr<std::optional<std::uint64_t>> CheckMap(const std::string& path, const MappedRun& run);

// Returns the path of the map to use if none was given: map.npy in the run's folder or beside it, if octavo map made it
// from this run; in the run's folder also one that does not say of which run it is. Empty: there is none. One in the
// run's folder that cannot be used is passed to `warn`.
std::string FindMap(const MappedRun& run, const std::function<void(std::string_view)>& warn);

struct MapPlaces {
  std::string layout;                       // "neighbors", "pca", or "file" for one that does not say
  std::vector<MapPoint> points;             // [count]
  std::array<double, 2> variance{};         // shares of the axes, of "pca"
  std::optional<std::uint64_t> generation;  // of the commit that a file was made from
};

// The memory of PlaceNodes apart from the points.
std::uint64_t MapPlaceBytes(const EmbeddedGraph& embedded);

// Returns the points of `nodes`, ascending; empty: of all nodes. `path`: a map; empty: principal axes. Runs on TBB.
absl::StatusOr<MapPlaces> PlaceNodes(const EmbeddedGraph& embedded, const MappedRun& run, const std::string& path,
                                     std::span<const std::uint64_t> nodes);

}  // namespace octavo
