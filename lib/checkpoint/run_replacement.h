// Replaces an older run in its folder by a new one. The older one stays valid until the new one is complete.
//
// The new run is made in RunPaths::Replacement(), up to its first commit. Then it replaces the older one in these
// steps, each with a failpoint "replace.P<n>":
//   P1  STATE of the older run is removed; from now on the new run is the valid one
//   P2  the other files of the older run, and its best run, are removed
//   P3  the new run's files are moved: run.json first, STATE last, each on the disk before the next
//   P4  the folder they were in is removed
// A kill before P1 leaves the older run. A kill after P1 leaves the new one, which is unreadable until
// SettleReplacement finishes. Other files in the folder are kept.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/paths.h"

namespace octavo {

// All functions except IsBeingReplaced REQUIRE: the caller holds the lock of `paths`.

// Removes a run, or the rest of one, and its best run. LOCK and run.json stay; they show that this was a run. A best
// run that belongs to another run is a usage error, one in use a busy error; then nothing is removed.
absl::Status RemoveRun(const RunPaths& paths);

// Returns the error that RemoveRun would return, and removes nothing.
absl::Status CheckRemovable(const RunPaths& paths);

// Replaces the run in `paths` by the one in paths.Replacement(), which has a commit.
absl::Status ReplaceRun(const RunPaths& paths);

// Whether a replacement was interrupted after P1: the new run is unreadable until SettleReplacement finishes.
absl::StatusOr<bool> IsBeingReplaced(const RunPaths& paths);

// Completes such a replacement, and removes the rest of any other.
absl::Status SettleReplacement(const RunPaths& paths);

}  // namespace octavo
