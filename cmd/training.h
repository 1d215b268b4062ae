// What `train` and `resume` share: signals, progress, the report of each epoch, the last line.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "train/trainer.h"

namespace octavo {

// Runs `work` with settings and callbacks made from the program's options: SIGINT and SIGTERM stop it after a commit
// (exit code 130 or 143; a second signal ends the process at once), progress and epochs are reported.
absl::Status RunTraining(
    Program& program, const std::string& run,
    const std::function<absl::StatusOr<TrainOutcome>(const TrainSettings&, const TrainCallbacks&)>& work);

}  // namespace octavo
