// Copies a run's last commit into a separate run: the best checkpoint is kept beside the last.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "format/manifest.h"
#include "format/paths.h"

namespace octavo {

// What the copy has in addition to the commit: data that `from` will only commit next.
struct CopyAddition {
  ValidationProgress validation;
  std::string_view event;  // for metrics.jsonl, a JSON object
};

// Makes a run at `to` from the last commit of `from`: the same rows, optimizer state, generation, configuration and
// events, each table in its first file. Rows are compared with their checksums. The copy is made in
// RunPaths::Unfinished and then replaces the previous one atomically (on a file system that cannot exchange two names,
// a kill in between can leave none). An unfinished copy left by a kill is removed by the next copy. `to` must not
// exist, or be an earlier copy of this run that no process has locked. `from` must not commit during the copy. With
// `sync` the copy is on the disk on return.
absl::Status CopyCommit(const RunPaths& from, const RunPaths& to, const CopyAddition& addition, bool sync);

// Checks that `copy` and its RunPaths::Unfinished do not exist, or are folders without a run, or copies of the run
// `from`. Another run, or anything that is not a folder, is a usage error. If `from` has no run, every run is another
// one. A STATE that cannot be read, of either run, is its own error, except in RunPaths::Unfinished: a power cut can
// leave one there.
absl::Status CheckCopyPlace(const RunPaths& from, const RunPaths& copy);

// Removes what an interrupted CopyCommit has left of a copy of `from`. Keeps anything else that has its name.
absl::Status RemoveUnfinishedCopy(const RunPaths& from, const RunPaths& copy);

// Removes the files of a run, and its folder if nothing else is in it. A run in use is a busy error.
absl::Status RemoveRunFolder(const RunPaths& paths);

}  // namespace octavo
