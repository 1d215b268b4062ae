#include "run/run_exchange.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/status.h"
#include "checkpoint/commit_copy.h"
#include "checkpoint/run_replacement.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "graph/graph.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/link_check.h"
#include "run/run_configuration.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// A new run that is made together with a graph.
struct Growth {
  fs::path graph;  // its final path
  std::uint64_t fingerprint = 0;
};

// Returns the graph of the run in paths.Replacement() if the exchange of that graph decides which run is valid. Empty
// if the replacement is of another kind, has no commit, or is decided and already being moved.
absl::StatusOr<std::optional<Growth>> ReadGrowth(const RunPaths& paths) {
  const RunPaths newer = paths.Replacement();
  for (const fs::path& file : {newer.State(), newer.Growth(), newer.Configuration()}) {
    ASSIGN_OR_RETURN(const bool there, FileExists(file));
    if (!there) return std::nullopt;
  }
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(newer.State()));
  ASSIGN_OR_RETURN(const RunConfiguration configuration, ReadRunConfiguration(newer.Configuration()));
  return Growth{configuration.graph, manifest.header.graph_fingerprint};
}

enum class GraphPlace { kNamed, kOtherThere, kNoneThere };

absl::StatusOr<GraphPlace> PlaceOf(const Growth& growth, const fs::path& folder) {
  const auto graph = ReadGraphDescription(GraphPaths(folder));
  if (graph.ok()) return graph->fingerprint == growth.fingerprint ? GraphPlace::kNamed : GraphPlace::kOtherThere;
  if (IsSystemError(graph.status())) return graph.status();
  return GraphPlace::kNoneThere;
}

// Whether the older run's files are being removed or are gone, so that the growth is the only run.
absl::StatusOr<bool> IsOnlyRun(const RunPaths& paths) {
  constexpr std::uint64_t kMostBytes = 1 << 10;
  ASSIGN_OR_RETURN(const std::string mark, ReadWholeFile(paths.Replacement().Growth(), kMostBytes));
  if (mark != kGrowthOverRun) return false;
  return IsBeingReplaced(paths);
}

// Why a growth cannot be completed: the graph of its name is missing, or another one.
absl::Status GraphError(const RunPaths& paths, const Growth& growth, GraphPlace place, bool only_run) {
  const std::string folder = paths.Replacement().folder().string();
  return UsageError(fmt::format(
      "{}: found {} graph; expected that of the new run in {}, with fingerprint {:016x}: put it back{}",
      growth.graph.string(), place == GraphPlace::kNoneThere ? "no" : "another", folder, growth.fingerprint,
      only_run ? "; the older run is gone, so that is the only one" : fmt::format(", or remove {}", folder)));
}

// How far a replacement is.
struct Standing {
  ReplacementStage stage = ReplacementStage::kNone;
  std::optional<Growth> growth = std::nullopt;  // if the exchange of its graph decides
  GraphPlace place = GraphPlace::kNamed;        // of that graph
};

absl::StatusOr<Standing> LookAt(const RunPaths& paths) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(paths.Replacement().folder(), error))) return Standing{};
  Standing standing;
  bool decided = false;
  ASSIGN_OR_RETURN(standing.growth, ReadGrowth(paths));
  if (standing.growth) {
    ASSIGN_OR_RETURN(standing.place, PlaceOf(*standing.growth, standing.growth->graph));
    ASSIGN_OR_RETURN(const bool only_run, IsOnlyRun(paths));
    decided = standing.place == GraphPlace::kNamed || only_run;
  } else {
    ASSIGN_OR_RETURN(decided, IsBeingReplaced(paths));
  }
  standing.stage = decided ? ReplacementStage::kDecided : ReplacementStage::kMaking;
  return standing;
}

}  // namespace

absl::StatusOr<ReplacementStage> StageOfReplacement(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const Standing standing, LookAt(paths));
  return standing.stage;
}

absl::Status CheckSettled(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const Standing standing, LookAt(paths));
  if (standing.stage != ReplacementStage::kDecided) return absl::OkStatus();
  if (standing.place != GraphPlace::kNamed) {
    return GraphError(paths, *standing.growth, standing.place, /*only_run=*/true);
  }
  const std::string folder = paths.folder().string();
  return UsageError(fmt::format(
      "{}: a new run is replacing the one that was here and is still in {}; octavo resume --run {} "
      "completes that, if no other process does, and continues the training; octavo verify --repair {} only "
      "completes it",
      folder, paths.Replacement().folder().string(), folder, folder));
}

absl::Status SettleRun(const RunPaths& paths) {
  RETURN_IF_ERROR(CheckNoLink(paths.Replacement().folder()));
  ASSIGN_OR_RETURN(const std::optional<Growth> growth, ReadGrowth(paths));
  if (!growth) return SettleReplacement(paths);
  const std::vector<fs::path> abandoned = AbandonedFolders(growth->graph);
  ASSIGN_OR_RETURN(GraphPlace place, PlaceOf(*growth, growth->graph));
  for (const fs::path& folder : abandoned) {
    if (place != GraphPlace::kNoneThere) break;
    ASSIGN_OR_RETURN(const GraphPlace partial, PlaceOf(*growth, folder));
    if (partial == GraphPlace::kNamed) place = GraphPlace::kOtherThere;
  }
  ASSIGN_OR_RETURN(const bool only_run, IsOnlyRun(paths));
  if (place == GraphPlace::kOtherThere && !only_run) return RemoveRunFolder(paths.Replacement());
  if (place != GraphPlace::kNamed) return GraphError(paths, *growth, place, only_run);
  // The graph's name must be on the disk before the older run is removed.
  RETURN_IF_ERROR(SyncFolder(growth->graph.parent_path()));
  // Once the older run's STATE is gone, nothing tells to which run its best run belonged: that was checked before.
  ASSIGN_OR_RETURN(const bool begun, IsBeingReplaced(paths));
  RETURN_IF_ERROR(begun ? SettleReplacement(paths) : ReplaceRun(paths));
  for (const fs::path& older : abandoned) RemoveAbandonedFolder(older, GraphPaths::FileNames());
  return absl::OkStatus();
}

}  // namespace octavo
