// Opens a run for a verb: finds its graph, checks whether a training changes it, and prepares it for searches.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "query/embedded_of.h"
#include "run/trained_run.h"

namespace octavo {

// Returns a usage error if the run's graph is no longer where the training found it; the message names `flag`, with
// which its new path can be given. Other errors are left to the functions that open the run.
absl::Status CheckGraphPlace(const std::string& run, std::string_view flag);

// Warns if the newest commit cannot be read and the one before is used.
absl::StatusOr<TrainedRun> OpenRun(Program& program, const RunFlags& flags);

// Warns if another run was going to replace this one and has not yet, because it is still being made or was
// interrupted.
absl::Status WarnIfToBeReplaced(Program& program, const std::string& run);

// Warns if a training committed while `run` was read. Call it after reading everything.
absl::Status WarnIfCommitted(Program& program, const RunFlags& flags, const TrainedRun& run);

// Returns e.g. "complex, dim 200, 30 epochs", a description of the training.
std::string DescribeRun(const TrainedRun& run);

}  // namespace octavo
