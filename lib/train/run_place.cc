#include "train/run_place.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/byte_size.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/file.h"
#include "train/memory_estimate.h"
#include "train/run_configuration.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

}  // namespace

absl::Status CheckFolder(const RunPaths& paths) {
  std::error_code error;
  if (fs::exists(paths.folder(), error) && !fs::is_directory(paths.folder(), error)) {
    return UsageError(fmt::format("{}: exists and is not a folder", paths.folder().string()));
  }
  // The two have names of their own, but nobody could replace, check or remove one of them any more.
  if (fs::exists(GraphPaths(paths.folder()).Description(), error)) {
    return UsageError(fmt::format("{}: is a graph; choose another folder for the run", paths.folder().string()));
  }
  return absl::OkStatus();
}

absl::Status CheckUnused(const RunPaths& paths) {
  const std::string folder = paths.folder().string();
  std::vector<fs::path> there;
  for (const fs::path& path : paths.All()) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (error && status.type() != fs::file_type::not_found) {
      return RuntimeError(fmt::format("{}: {}", path.string(), error.message()));
    }
    if (fs::exists(status) && path != paths.Lock()) there.push_back(path);
  }
  const auto has = [&](const fs::path& path) { return std::find(there.begin(), there.end(), path) != there.end(); };
  if (has(paths.State())) {
    return UsageError(
        fmt::format("{}: has a run; go on with it by octavo resume --run {}, or say --overwrite", folder, folder));
  }
  const bool untrained = !has(paths.Metrics()) || has(paths.Beginning());
  if (untrained && ReadRunConfiguration(paths.Configuration()).ok()) return absl::OkStatus();
  for (const fs::path& path : there) {
    return UsageError(
        fmt::format("{}: is there and belongs to no run; choose another folder, or say --overwrite", path.string()));
  }
  return absl::OkStatus();
}

absl::Status CheckDiskSpace(const RunPaths& paths, std::uint64_t needed) {
  std::uint64_t held = 0;
  std::error_code error;
  for (const RunPaths& run : {paths, paths.Best()}) {
    for (const fs::path& path : run.All()) {
      const std::uintmax_t bytes = fs::file_size(path, error);
      if (!error) held += bytes;
    }
  }
  fs::path folder = fs::absolute(paths.folder());
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= needed - std::min(needed, held)) return absl::OkStatus();
  return RuntimeError(
      fmt::format("{}: {} are free and {} needed; expected another disk, or a smaller dim, or storage bf16",
                  folder.string(), FormatByteSize(space.available + held), FormatByteSize(needed)));
}

absl::Status CheckRoomForBest(const TrainOptions& options, const GraphDescription& graph, const RunPaths& paths) {
  if (options.keep != Keep::kBest) return absl::OkStatus();
  std::error_code error;
  const fs::space_info space = fs::space(paths.folder(), error);
  const std::uint64_t needed = 4 * graph.node_count * NodeBytes(options);
  if (error || space.available >= needed) return absl::OkStatus();
  return RuntimeError(fmt::format(
      "{}: {} are free and {} needed: two slots of the tables, and with keep best two copies of them, while the newer "
      "takes the place of the older",
      paths.folder().string(), FormatByteSize(space.available), FormatByteSize(needed)));
}

}  // namespace octavo
