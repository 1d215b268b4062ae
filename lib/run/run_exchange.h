// Replaces a run by a new one and, when `grow` has made both, the older graph by a new one together with it.
//
// The run is made in RunPaths::Replacement(), up to its first commit, and the graph under a PartialName
// (io/atomic_file.h). When both are complete on the disk, the graph is renamed to its final name in one step, in
// exchange with an older one. That step decides. Then the run is moved (checkpoint/run_replacement.h). A kill before
// that step leaves the older pair, or the older graph alone if there was no run. After it, the new run is the valid
// one: its mark RunPaths::Growth() and the graph's fingerprint under the final name say so, and the next process that
// takes the run's lock completes the replacement.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/paths.h"

namespace octavo {

// What RunPaths::Growth() of a growth says if it replaces a run; otherwise it is empty.
inline constexpr std::string_view kGrowthOverRun = "replaces a run\n";

enum class ReplacementStage {
  kNone,     // no replacement is being made
  kMaking,   // one is being made, or its making was interrupted; the current run is valid
  kDecided,  // the new run is valid as soon as SettleRun has moved it
};

// Any process at any time.
absl::StatusOr<ReplacementStage> StageOfReplacement(const RunPaths& paths);

// Returns a usage error, with the command that continues, if a replacement is decided but not complete.
absl::Status CheckSettled(const RunPaths& paths);

// Completes a replacement that was decided, and removes the rest of any other. A usage error, which changes nothing, if
// the graph of a growth exists neither under its name nor under a partial one, or if another graph has its name and the
// older run is already being removed.
// REQUIRES: the caller holds the lock of `paths`
absl::Status SettleRun(const RunPaths& paths);

}  // namespace octavo
