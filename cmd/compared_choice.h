// What `train` does where no rule can choose: short trainings of the choice and of its changes (tune/short_trials.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "choose/choice.h"
#include "cmd/program.h"
#include "cmd/train_flags.h"
#include "tune/short_trials.h"

namespace octavo {

// Runs the trials of MakeShortTrials, which are not empty, and that of two changes together; puts the options of the
// one to take in place of those of `choice`. Holds out training edges if the graph has no valid edges. Reports each
// trial and what is taken. Trains in a scratch folder beside the future `run`. If a trial fails, warns and compares
// those before it. SIGINT and SIGTERM end it with absl::CancelledError.
absl::Status TakeBetterChange(Program& program, const std::filesystem::path& graph, const std::filesystem::path& run,
                              const CandidateSource& source, std::vector<ShortTrial> trials, Choice& choice);

// What is compared before a training within flags.seconds: the trials, and what they are of, which `train` would choose
// without a time.
struct TimedComparison {
  SettledOptions settled;
  TimedTrials timed;
};

// Returns the first of the trials of MakeShortTrials that fit in two fifths of the time, for TakeBetterChange; none if
// fewer than two fit, if the graph is large, if no time is given, or if `changes` is 0. Measures the machine in the
// existing part of the path of `run`.
absl::StatusOr<TimedComparison> PlanTimedTrials(const Program& program, const TrainFlags& flags, const std::string& run,
                                                std::uint64_t changes);

// Reports that `train` will run the trials, for a plan or a dry run; nothing if there are none.
void ReportComparison(Reporter& reporter, const std::vector<ShortTrial>& trials);

}  // namespace octavo
