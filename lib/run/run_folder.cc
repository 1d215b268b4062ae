#include "run/run_folder.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/byte_size.h"
#include "base/status.h"
#include "checkpoint/run_replacement.h"
#include "fmt/format.h"
#include "io/file.h"
#include "io/free_space.h"
#include "run/run_configuration.h"
#include "run/run_exchange.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

std::uint64_t BytesOf(const RunPaths& paths) {
  std::uint64_t held = 0;
  for (const fs::path& path : paths.All()) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (!error) held += bytes;
  }
  return held;
}

}  // namespace

absl::Status CheckFolder(const RunPaths& paths) {
  std::error_code error;
  if (fs::exists(paths.folder(), error) && !fs::is_directory(paths.folder(), error)) {
    return UsageError(fmt::format("{}: exists and is not a folder", paths.folder().string()));
  }
  // Their file names do not collide, but neither could be replaced, verified or removed any more.
  if (fs::exists(GraphPaths(paths.folder()).Description(), error)) {
    return UsageError(fmt::format("{}: is a graph; choose another folder for the run", paths.folder().string()));
  }
  return absl::OkStatus();
}

bool IsUntrained(const RunPaths& paths) {
  const auto is = [](const fs::path& path, fs::file_type type) {
    std::error_code error;
    return fs::symlink_status(path, error).type() == type;
  };
  if (!is(paths.State(), fs::file_type::not_found)) return false;
  if (!is(paths.Metrics(), fs::file_type::not_found) && !is(paths.Beginning(), fs::file_type::regular)) return false;
  return ReadRunConfiguration(paths.Configuration()).ok();
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
        fmt::format("{}: has a run; continue it with octavo resume --run {}, or pass --overwrite", folder, folder));
  }
  if (IsUntrained(paths)) return absl::OkStatus();
  for (const fs::path& path : there) {
    return UsageError(fmt::format("{}: exists and does not belong to a run; choose another folder, or pass --overwrite",
                                  path.string()));
  }
  return absl::OkStatus();
}

absl::Status CheckDiskSpace(const RunPaths& paths, const DiskSpace& needed, bool beside) {
  const std::uint64_t held = BytesOf(paths) + BytesOf(paths.Best());
  std::error_code error;
  fs::path folder = fs::absolute(paths.folder());
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const std::optional<std::uint64_t> available = FreeBytes(folder);
  if (!available) return absl::OkStatus();
  const auto check = [&](std::uint64_t free, std::uint64_t bytes, std::string_view what) {
    if (free >= bytes) return absl::OkStatus();
    return RuntimeError(
        fmt::format("{}: {} are free, {} are needed{}; expected another disk, a smaller dim, or storage bf16",
                    folder.string(), FormatByteSize(free), FormatByteSize(bytes), what));
  };
  // Leftovers of an interrupted replacement are removed first.
  const std::uint64_t free = *available + BytesOf(paths.Replacement());
  if (beside) {
    RETURN_IF_ERROR(
        check(free, needed.beginning, " in addition to the older run, which is kept until the new one is complete"));
  }
  return check(free + held, needed.training, "");
}

absl::Status CheckRoomForBest(const TrainOptions& options, const GraphDescription& graph, const RunPaths& paths) {
  if (options.keep != Keep::kBest) return absl::OkStatus();
  const std::optional<std::uint64_t> available = FreeBytes(paths.folder());
  const std::uint64_t needed = 4 * graph.node_count * NodeBytes(options);
  if (!available || *available >= needed) return absl::OkStatus();
  return RuntimeError(fmt::format(
      "{}: {} are free, {} are needed: two slots of the tables and, with keep best, two copies while the newer one "
      "replaces the older",
      paths.folder().string(), FormatByteSize(*available), FormatByteSize(needed)));
}

absl::StatusOr<RunFolder> RunFolder::Take(const fs::path& folder, bool overwrite) {
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckFolder(paths));
  ASSIGN_OR_RETURN(ParentFolders made, ParentFolders::Make(folder));
  ASSIGN_OR_RETURN(RunLock lock, RunLock::Take(paths.Lock()));
  RETURN_IF_ERROR(RunLock::AwaitOthers(paths.Ranks()));
  RunFolder place(paths, std::move(made), std::move(lock));
  RETURN_IF_ERROR(SettleRun(paths));
  if (!overwrite) RETURN_IF_ERROR(CheckUnused(paths));
  ASSIGN_OR_RETURN(place.has_older_, FileExists(paths.State()));
  if (place.has_older_) RETURN_IF_ERROR(CheckRemovable(paths));
  return place;
}

RunFolder::~RunFolder() {
  if (made_ && made_->any()) static_cast<void>(RemoveFile(paths_.Lock()));
}

}  // namespace octavo
