#include "serve/map_cache.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "evaluate/node_labels.h"
#include "fmt/format.h"
#include "query/embedded_of.h"

namespace octavo {
namespace {

// The classes of the nodes, in memory of the map's share.
absl::StatusOr<NodeLabels> ReadClasses(const ServedRun& run, const ServedCommit& commit) {
  return ReadNodeLabels(*commit.answerer.run().graph, run.options().classes,
                        std::max(kLeastLabelBytes, commit.map_nodes * kMapPointBytes));
}

absl::StatusOr<std::shared_ptr<const MapPoints>> MakePoints(ServedRun& run, const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run.Current());
  const EmbeddedGraph embedded = EmbeddedOf(commit->answerer.run());
  const MappedRun mapped = MappedRunOf(run.options().folder, commit->answerer.run());
  MapPointOptions options = {.most_nodes = commit->map_nodes, .run = mapped, .file = run.options().map, .stop = stop};
  if (options.file.empty()) options.file = FindMap(mapped, run.options().warn);
  std::optional<NodeLabels> classes;
  if (!run.options().classes.empty()) {
    ASSIGN_OR_RETURN(classes, ReadClasses(run, *commit));
    options.classes = &*classes;
  }
  ASSIGN_OR_RETURN(MapPoints points, MakeMapPoints(embedded, options));
  RETURN_IF_ERROR(embedded.graph.TextStatus());
  points.generation = commit->answerer.run().generation;
  return std::make_shared<const MapPoints>(std::move(points));
}

}  // namespace

absl::Status CheckMapClasses(ServedRun& run) {
  const std::string& file = run.options().classes;
  if (file.empty()) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error)) {
    return UsageError(fmt::format("{}: is not a file; expected one, which each new map reads again", file));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run.Current());
  return ReadClasses(run, *commit).status();
}

MapCache::State MapCache::Get(bool refresh, const Start& start, const std::function<bool()>& stop) {
  const absl::StatusOr<std::shared_ptr<ServedCommit>> commit = run_.Current();
  const MutexLock lock(mutex_);
  const bool missing = state_.points == nullptr && (refresh || state_.error.empty());
  const auto is_old = [&](std::uint64_t generation) {
    return commit.ok() && (*commit)->answerer.run().generation != generation;
  };
  const bool old =
      state_.points != nullptr && (is_old(state_.points->generation) ||
                                   (state_.points->placed_generation && is_old(*state_.points->placed_generation)));
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
