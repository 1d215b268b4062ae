#include "checkpoint/run_replacement.h"

#include <filesystem>
#include <system_error>

#include "base/status.h"
#include "checkpoint/commit_copy.h"
#include "checkpoint/run_lock.h"
#include "io/failpoint.h"
#include "io/file.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Whether the path itself (not a link) is a folder.
bool IsFolder(const RunPaths& paths) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(paths.folder(), error));
}

// Renames the best run before its files are removed: a kill leaves it intact, or under the name of an unfinished copy,
// which the next process removes.
absl::Status RemoveBest(const RunPaths& paths) {
  const RunPaths best = paths.Best();
  const RunPaths unfinished = best.Unfinished();
  RETURN_IF_ERROR(RemoveRunFolder(unfinished));
  if (!IsFolder(best)) return absl::OkStatus();
  if (IsFolder(unfinished)) return RemoveRunFolder(best);  // it has files of the user: its name is taken
  // Fails if another process has the best run open.
  RETURN_IF_ERROR(RunLock::Take(best.Lock()).status());
  // In a lower layer of an overlay file system it cannot be renamed.
  if (!RenameFile(best.folder(), unfinished.folder()).ok()) return RemoveRunFolder(best);
  RETURN_IF_ERROR(SyncFolder(paths.folder()));
  RETURN_IF_ERROR(RemoveRunFolder(unfinished));
  // Files of the user keep their place.
  return IsFolder(unfinished) ? RenameFile(unfinished.folder(), best.folder()) : absl::OkStatus();
}

// Marks that the remaining files are not a run as soon as STATE is removed. Best effort: the disk may be full.
void MarkAsUntrained(const RunPaths& paths) {
  if (absl::StatusOr<File> mark = File::Create(paths.Beginning()); mark.ok()) static_cast<void>(mark->Close());
}

// STATE is removed first: without it the remaining files are not a run, however far this gets.
absl::Status RemoveFiles(const RunPaths& paths) {
  for (const fs::path& path : paths.All()) {
    if (path != paths.Lock() && path != paths.Configuration()) RETURN_IF_ERROR(RemoveFile(path));
  }
  return SyncFolder(paths.folder());
}

absl::Status MoveIfThere(const fs::path& file, const RunPaths& to) {
  ASSIGN_OR_RETURN(const bool there, FileExists(file));
  return there ? RenameFile(file, to.folder() / file.filename()) : absl::OkStatus();
}

}  // namespace

absl::Status CheckRemovable(const RunPaths& paths) {
  RETURN_IF_ERROR(CheckCopyPlace(paths, paths.Best()));
  for (const RunPaths& best : {paths.Best(), paths.Best().Unfinished()}) {
    // Taking the lock shows whether a best run is in use; it is released again at once.
    ASSIGN_OR_RETURN(const bool there, FileExists(best.State()));
    if (there) RETURN_IF_ERROR(RunLock::Take(best.Lock()).status());
  }
  return absl::OkStatus();
}

absl::Status RemoveRun(const RunPaths& paths) {
  RETURN_IF_ERROR(CheckRemovable(paths));
  RETURN_IF_ERROR(RemoveBest(paths));  // before STATE, which identifies the run of the best checkpoint
  ASSIGN_OR_RETURN(const bool there, FileExists(paths.State()));
  if (there) MarkAsUntrained(paths);
  return RemoveFiles(paths);
}

absl::Status ReplaceRun(const RunPaths& paths) {
  RETURN_IF_ERROR(CheckRemovable(paths));
  RETURN_IF_ERROR(Failpoint("replace.P1"));
  RETURN_IF_ERROR(RemoveFile(paths.State()));
  RETURN_IF_ERROR(SyncFolder(paths.folder()));
  return SettleReplacement(paths);
}

absl::StatusOr<bool> IsBeingReplaced(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const bool stands, FileExists(paths.State()));
  if (stands) return false;
  return FileExists(paths.Replacement().State());
}

absl::Status SettleReplacement(const RunPaths& paths) {
  const RunPaths from = paths.Replacement();
  ASSIGN_OR_RETURN(const bool begun, IsBeingReplaced(paths));
  if (!begun) return RemoveRunFolder(from);
  RETURN_IF_ERROR(Failpoint("replace.P2"));
  // Until run.json has been moved, all files here belong to the older run.
  ASSIGN_OR_RETURN(const bool unmoved, FileExists(from.Configuration()));
  if (unmoved) {
    RETURN_IF_ERROR(RemoveBest(paths));
    RETURN_IF_ERROR(RemoveFiles(paths));
  }
  RETURN_IF_ERROR(Failpoint("replace.P3"));
  // Each move must be on the disk before the next: after a power cut, run.json must be there if any later file is, and
  // STATE only if all others are.
  const auto sync = [&]() -> absl::Status {
    RETURN_IF_ERROR(SyncFolder(paths.folder()));
    return SyncFolder(from.folder());
  };
  RETURN_IF_ERROR(MoveIfThere(from.Configuration(), paths));
  RETURN_IF_ERROR(sync());
  for (const fs::path& file : from.All()) {
    if (file != from.Lock() && file != from.State() && file != from.Growth()) RETURN_IF_ERROR(MoveIfThere(file, paths));
  }
  RETURN_IF_ERROR(sync());
  RETURN_IF_ERROR(MoveIfThere(from.State(), paths));
  RETURN_IF_ERROR(sync());
  RETURN_IF_ERROR(Failpoint("replace.P4"));
  return RemoveRunFolder(from);
}

}  // namespace octavo
