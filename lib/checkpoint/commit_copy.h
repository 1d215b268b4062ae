// A run's last commit as a run of its own: the best of several is kept beside the last.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "format/manifest.h"
#include "format/paths.h"

namespace octavo {

// What the copy has beside what is committed: what `from` is going to commit next.
struct CopyAddition {
  ValidationProgress validation;
  std::string_view event;  // the line of metrics.jsonl
};

// Makes at `to` a run of what `from` has committed: the same rows, optimizer state, generation, configuration and
// events, each table in its first file. The copy appears whole, in place of the one that was there before (where the
// file system cannot exchange two names, a kill between can leave none); rows are compared with their checksums on the
// way. Under RunPaths::Unfinished it can be left by a kill, and is removed by the next copy. What is at `to` must be
// nothing, or an earlier copy of this run that nobody has locked. `from` must not commit meanwhile. With `sync` the
// copy is on the disk when this returns.
absl::Status CopyCommit(const RunPaths& from, const RunPaths& to, const CopyAddition& addition, bool sync);

// Checks that `copy` and its RunPaths::Unfinished are nothing, folders without a run, or copies of the run `from`: a
// usage error where another run is there, or what is no folder. Where `from` has no run, any run is another one.
absl::Status CheckCopyPlace(const RunPaths& from, const RunPaths& copy);

// Removes the files of a run and its folder; what else is in the folder stays, and so does the folder then. A run that
// is in use is a busy error.
absl::Status RemoveRunFolder(const RunPaths& paths);

}  // namespace octavo
