// Several processes that run one verb together, started by a launcher of MPI (docs/machines.md).
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "cmd/program.h"
#include "run/options.h"

namespace octavo {

// Joins the launcher's job, if this process was started in one of several ranks; afterwards program.ranks is set, and
// only rank 0 reports. A lost rank ends this process with kLostExitCode. Call it in a verb that several processes can
// run together, before anything else.
absl::Status JoinJob(Program& program);

// A usage error if a launcher started several processes for a verb that one process runs.
absl::Status RefuseJob(std::string_view verb);

inline constexpr int kLostExitCode = 6;

// Gives every rank the options of rank 0, which may have been chosen by a measurement.
absl::Status ShareOptions(Ranks& ranks, TrainOptions& options);

// Leaves the job: after an error by ending all ranks with the exit code, which does not return.
void LeaveJob(Program& program, bool failed, int exit_code);

}  // namespace octavo
