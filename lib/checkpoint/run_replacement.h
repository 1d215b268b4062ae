// A new run in the place of an older one, in its folder: the older one stands until the new one is whole.
//
// The new run is made in RunPaths::Replacement(), up to its first commit. Then it takes the place, in steps, each a
// failpoint "replace.P<n>":
//   P1  STATE of the older run is removed: from here on the new one is the run
//   P2  its other files, and its best run, are removed
//   P3  the new one's files are moved, run.json first and STATE last, each on the disk before the next
//   P4  the folder that they were in is removed
// A kill before P1 leaves the older run, one behind it the new one: SettleReplacement goes on from there. Whatever else
// is in the folder stays.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/paths.h"

namespace octavo {

// All of these REQUIRE: the caller has the lock of `paths`, if anything else than IsBeingReplaced.

// Removes a run, or what is left of one, with its best one; LOCK and run.json stay, which says that they were a run's.
// A best run of another run is a usage error, one that is in use a busy error, before anything is removed.
absl::Status RemoveRun(const RunPaths& paths);

// Whether RemoveRun would refuse.
absl::Status CheckRemovable(const RunPaths& paths);

// Puts the run in paths.Replacement(), which has a commit, in the place of the one in `paths`.
absl::Status ReplaceRun(const RunPaths& paths);

// Whether a replacement was cut behind P1: there is a run that only SettleReplacement brings to light.
absl::StatusOr<bool> IsBeingReplaced(const RunPaths& paths);

// Finishes such a one, and removes what is left of any other.
absl::Status SettleReplacement(const RunPaths& paths);

}  // namespace octavo
