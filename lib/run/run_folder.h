// The folder of a new run: checks that it and its disk are suitable, and takes it.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/run_lock.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "io/atomic_file.h"
#include "run/footprint.h"
#include "run/options.h"

namespace octavo {

// Checks that an existing folder can become a run.
absl::Status CheckFolder(const RunPaths& paths);

// Whether the folder is that of a training that was stopped before its first commit. It leaves run.json, but neither
// STATE nor metrics.jsonl, which is written after that commit. A warm start has metrics.jsonl earlier, and a mark;
// metrics.jsonl without the mark may mean that the vectors are all that is left of a run.
bool IsUntrained(const RunPaths& paths);

// Checks that the folder has no run and no files with a run's names from elsewhere; such a folder needs --overwrite.
absl::Status CheckUnused(const RunPaths& paths);

// Fails if free space plus what the replaced run releases is too little. The files of the replaced run are removed
// before the new one is made, or, with `beside`, only after its first commit.
absl::Status CheckDiskSpace(const RunPaths& paths, const DiskSpace& needed, bool beside);

// The space of the tables is allocated at once, that of the best run's copies is not: compares their needs with the
// free space.
absl::Status CheckRoomForBest(const TrainOptions& options, const GraphDescription& graph, const RunPaths& paths);

// A folder taken for a new run: no other process can train there during the lifetime of this object. One owner.
class RunFolder {
 public:
  // Makes the folder, takes its lock and settles an interrupted replacement. A usage error if the folder cannot become
  // a run or, with `overwrite`, has an older run that must not be removed.
  static absl::StatusOr<RunFolder> Take(const std::filesystem::path& folder, bool overwrite);

  // The folder of a run that another process has taken, for one that trains the run with it.
  static RunFolder TakenByAnother(const std::filesystem::path& folder) { return RunFolder(RunPaths(folder)); }

  RunFolder(RunFolder&&) = default;
  RunFolder& operator=(RunFolder&&) = delete;
  // Removes the folders that it made, unless Keep was called.
  ~RunFolder();

  const RunPaths& paths() const { return paths_; }
  // Whether there is an older run in the folder.
  bool has_older() const { return has_older_; }
  // Keeps the folders that it made.
  void Keep() {
    if (made_) made_->Keep();
  }

 private:
  explicit RunFolder(RunPaths paths) : paths_(std::move(paths)) {}
  RunFolder(RunPaths paths, ParentFolders made, RunLock lock)
      : paths_(std::move(paths)), made_(std::move(made)), lock_(std::move(lock)) {}

  RunPaths paths_;
  std::optional<ParentFolders> made_;
  std::optional<RunLock> lock_;
  bool has_older_ = false;
};

}  // namespace octavo
