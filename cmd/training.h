// What `train` and `resume` share: signals, progress, the report of each epoch, the final message.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "choose/choice.h"
#include "cmd/program.h"
#include "format/paths.h"
#include "train/trainer.h"

namespace octavo {

ShownProgress ProgressOf(const TrainProgress& progress);

// Returns how tables come into memory and why: "exchange mapped: nothing is read before the first batch".
std::string LoadingText(const LoadingChoice& choice);

// Reports what was chosen, in three lines; nothing if nothing was.
void ReportChoice(Reporter& reporter, const std::optional<Choice>& choice);

// Reports what a training would begin with, for --dry-run.
void ReportStart(Program& program, const std::filesystem::path& run, const TrainingStart& start);

// Threads and memory from the program's options.
TrainSettings SettingsOf(const Program& program);

// What a training that an interrupt ends before its first commit leaves of the run, for EndedByInterrupt. A folder that
// has begun keeps its run.json, and the same command takes it.
std::string_view UncommittedFate(const RunPaths& run);

// Catches SIGUSR1 from now on, and returns the flag that it sets. Null in a job: launchers pass SIGUSR1 on where they
// answer other signals by killing, so there it asks for a commit and an end (InterruptSignal).
std::atomic<bool>* CatchTrainingRequests();

// Runs `work` with settings and callbacks from the program's options. SIGINT and SIGTERM stop it after a commit (exit
// code 130 or 143; a second signal ends the process at once) or, before the first commit, without a run. Reports
// progress, epochs and validations.
absl::Status RunTraining(
    Program& program, const std::filesystem::path& run,
    const std::function<absl::StatusOr<TrainOutcome>(const TrainSettings&, const TrainCallbacks&)>& work);

}  // namespace octavo
