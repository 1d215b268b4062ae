#include "serve/map_cache.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "evaluate/node_labels.h"
#include "format/paths.h"
#include "query/embedded_of.h"

namespace octavo {
namespace {

absl::StatusOr<std::shared_ptr<const MapPoints>> MakePoints(ServedRun& run, const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run.Current());
  const EmbeddedGraph embedded = EmbeddedOf(commit->answerer.run());
  MapPointOptions options = {.most_nodes = commit->map_nodes, .coordinates = run.options().map, .stop = stop};
  if (options.coordinates.empty()) {
    const std::filesystem::path path = std::filesystem::path(run.options().folder) / "map.npy";
    std::error_code error;
    if (std::filesystem::exists(path, error)) options.coordinates = path.string();
  }
  std::optional<NodeLabels> classes;
  if (!run.options().classes.empty()) {
    ASSIGN_OR_RETURN(classes, ReadNodeLabels(embedded.graph, run.options().classes,
                                             std::max(kLeastLabelBytes, commit->map_nodes * kMapPointBytes)));
    options.classes = &*classes;
  }
  ASSIGN_OR_RETURN(MapPoints points, MakeMapPoints(embedded, options));
  RETURN_IF_ERROR(embedded.graph.TextStatus());
  points.generation = commit->answerer.run().generation;
  return std::make_shared<const MapPoints>(std::move(points));
}

}  // namespace

MapCache::State MapCache::Get(bool refresh, const Start& start, const std::function<bool()>& stop) {
  const absl::StatusOr<std::shared_ptr<ServedCommit>> commit = run_.Current();
  const MutexLock lock(mutex_);
  const bool missing = state_.points == nullptr && (refresh || state_.error.empty());
  const bool old =
      state_.points != nullptr && commit.ok() && (*commit)->answerer.run().generation != state_.points->generation;
  if (!state_.building && (missing || (refresh && old))) {
    state_.building = start([this, stop] { Build(stop); });
    if (state_.building) state_.error.clear();
  }
  return state_;
}

void MapCache::Build(const std::function<bool()>& stop) {
  absl::StatusOr<std::shared_ptr<const MapPoints>> points = MakePoints(run_, stop);
  if (!points.ok() && !absl::IsCancelled(points.status())) run_.options().warn(MessageOf(points.status()));
  const MutexLock lock(mutex_);
  state_.building = false;
  if (points.ok()) {
    state_.points = *std::move(points);
  } else {
    state_.error = "the map could not be made; the log of the server has the reason";
  }
}

}  // namespace octavo
