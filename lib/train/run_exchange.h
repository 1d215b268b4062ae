// A new run in the place of an older one, and with it, where a growth has made both, a new graph in the place of the
// older one's.
//
// The run is made in RunPaths::Replacement(), up to its first commit, and the graph under a PartialName
// (io/atomic_file.h). When both are whole on the disk the graph gets its name in one step, in exchange with an older
// one, which decides, and then the run takes its place (checkpoint/run_replacement.h). A kill before that step leaves
// the older pair, or the older graph alone where there was no run. Behind it the mark RunPaths::Growth() beside the new
// run, and the fingerprint of the graph under the name that the run knows, say that the new run is the one that stands:
// whoever takes the run's lock next goes on with the replacement.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/paths.h"

namespace octavo {

enum class ReplacementStage {
  kNone,     // nobody makes a run that is to take this one's place
  kMaking,   // somebody does, or was cut; what is here stands
  kDecided,  // the new run is the one that stands, as soon as SettleRun has moved it
};

// Any process at any time.
absl::StatusOr<ReplacementStage> StageOfReplacement(const RunPaths& paths);

// A usage error where a replacement is decided and not done, with the command that goes on.
absl::Status CheckSettled(const RunPaths& paths);

// Finishes a replacement that was decided, and removes what is left of any other. Where the graph of a growth is
// neither under its name nor under a partial one, that cannot be told: a usage error, and everything stays. REQUIRES:
// the caller has the lock of `paths`
absl::Status SettleRun(const RunPaths& paths);

}  // namespace octavo
