#include "train/run_exchange.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "base/status.h"
#include "checkpoint/run_replacement.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "graph/graph.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "train/run_configuration.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// What a run says of its graph.
struct GraphOfRun {
  fs::path folder;
  std::uint64_t fingerprint = 0;
};

// Empty where that cannot be read for any other reason than the system's.
template <typename T>
absl::StatusOr<std::optional<T>> IfReadable(absl::StatusOr<T> read) {
  if (read.ok()) return std::optional<T>(*std::move(read));
  return IsSystemError(read.status()) ? absl::StatusOr<std::optional<T>>(read.status()) : std::optional<T>();
}

absl::StatusOr<GraphOfRun> ReadGraphOf(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(paths.State()));
  ASSIGN_OR_RETURN(const RunConfiguration configuration, ReadRunConfiguration(paths.Configuration()));
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(configuration.graph, error);
  return GraphOfRun{error ? configuration.graph : folder, manifest.header.graph_fingerprint};
}

// Returns the folder in which the graph of the run has given way to that of its replacement; empty where it has not.
absl::StatusOr<fs::path> ExchangedGraph(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const bool made, FileExists(paths.Replacement().State()));
  if (!made) return fs::path();
  ASSIGN_OR_RETURN(const auto newer, IfReadable(ReadGraphOf(paths.Replacement())));
  ASSIGN_OR_RETURN(const auto older, IfReadable(ReadGraphOf(paths)));
  if (!newer || !older || newer->folder != older->folder || newer->fingerprint == older->fingerprint) return fs::path();
  ASSIGN_OR_RETURN(const auto graph, IfReadable(ReadGraphDescription(GraphPaths(newer->folder))));
  return graph && graph->fingerprint == newer->fingerprint ? newer->folder : fs::path();
}

}  // namespace

absl::StatusOr<ReplacementStage> StageOfReplacement(const RunPaths& paths) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(paths.Replacement().folder(), error))) return ReplacementStage::kNone;
  ASSIGN_OR_RETURN(const bool moving, IsBeingReplaced(paths));
  if (moving) return ReplacementStage::kDecided;
  ASSIGN_OR_RETURN(const fs::path graph, ExchangedGraph(paths));
  return graph.empty() ? ReplacementStage::kMaking : ReplacementStage::kDecided;
}

absl::Status CheckSettled(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const ReplacementStage stage, StageOfReplacement(paths));
  if (stage != ReplacementStage::kDecided) return absl::OkStatus();
  const std::string folder = paths.folder().string();
  return UsageError(
      fmt::format("{}: a new run is to take the place of the one that was here, and is still in {}; octavo resume "
                  "--run {} finishes "
                  "that, where nothing else is at it, and trains on",
                  folder, paths.Replacement().folder().string(), folder));
}

absl::Status SettleRun(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const bool stands, FileExists(paths.State()));
  fs::path graph;
  if (stands) {
    ASSIGN_OR_RETURN(graph, ExchangedGraph(paths));
  }
  if (graph.empty()) return SettleReplacement(paths);
  RETURN_IF_ERROR(ReplaceRun(paths));
  for (const fs::path& older : AbandonedFolders(graph)) RemoveAbandonedFolder(older, GraphPaths::FileNames());
  return absl::OkStatus();
}

}  // namespace octavo
