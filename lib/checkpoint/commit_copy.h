// A run's last commit as a run of its own: the best of several is kept beside the last.
#pragma once

#include "absl/status/status.h"
#include "format/paths.h"

namespace octavo {

// Makes at `to` a finished run of what `from` has committed: the same rows, optimizer state, generation, configuration
// and events, each table in its first file. The copy appears whole, in place of the one that was there before; rows are
// compared with their checksums on the way. Under RunPaths::Unfinished it can be left by a kill, and is removed by the
// next copy. `from` must not commit meanwhile. With `sync` the copy is on the disk when this returns.
absl::Status CopyCommit(const RunPaths& from, const RunPaths& to, bool sync);

// Removes the files of a run and its folder; what else is in the folder stays, and so does the folder then.
absl::Status RemoveRunFolder(const RunPaths& paths);

}  // namespace octavo
