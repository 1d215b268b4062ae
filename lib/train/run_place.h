// The folder of a new run: whether it, and its disk, have room for one, and the taking of it.
#pragma once

#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/run_lock.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "io/atomic_file.h"
#include "train/options.h"
#include "train/training_plan.h"

namespace octavo {

// A folder that is there must be free for a run.
absl::Status CheckFolder(const RunPaths& paths);

// A folder with a run, or with files of a run's names that no training left there, is not taken without --overwrite. A
// training that was stopped before its first commit leaves run.json and no STATE, and no metrics.jsonl, which comes
// behind the commit, or of a warm start one that is marked: with it, the vectors may be all that is left of a run.
absl::Status CheckUnused(const RunPaths& paths);

// A disk that has not what the run will need on top of what the files of the run in its place hold. Those go before the
// new one is made, or, `beside` it, only behind its first commit.
absl::Status CheckDiskSpace(const RunPaths& paths, const DiskSpace& needed, bool beside);

// The space of the tables is set aside at once, that of the copies is not: what they will need is compared with what
// there is.
absl::Status CheckRoomForBest(const TrainOptions& options, const GraphDescription& graph, const RunPaths& paths);

// A folder taken for a new run: no other process trains there as long as this lives. One owner.
class RunPlace {
 public:
  // Makes the folder, takes its lock and settles what a replacement that was cut has left. A usage error where the
  // folder is not free for a run, or, with `overwrite`, has an older one that may not be removed.
  static absl::StatusOr<RunPlace> Take(const std::filesystem::path& folder, bool overwrite);

  RunPlace(RunPlace&&) = default;
  RunPlace& operator=(RunPlace&&) = delete;
  // Removes the folders that it made.
  ~RunPlace();

  const RunPaths& paths() const { return paths_; }
  // Whether an older run stands there.
  bool has_older() const { return has_older_; }
  // From here on what was made stays.
  void Keep() { made_.Keep(); }

 private:
  RunPlace(RunPaths paths, ParentFolders made, RunLock lock)
      : paths_(std::move(paths)), made_(std::move(made)), lock_(std::move(lock)) {}

  RunPaths paths_;
  ParentFolders made_;
  RunLock lock_;
  bool has_older_ = false;
};

}  // namespace octavo
