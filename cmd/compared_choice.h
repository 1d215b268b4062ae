// What `train` does where no rule can choose: short trainings of the choice and of its changes (tune/short_trials.h).
#pragma once

#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"
#include "choose/choice.h"
#include "cmd/program.h"
#include "tune/candidates.h"

namespace octavo {

// Replaces `choice`, made of `source`, by the better of at most `most` changes of it, if there are any to compare.
// Reports each trial and what is taken. Trains in a scratch folder beside the future `run`. If a trial fails, warns and
// leaves the choice. SIGINT and SIGTERM end it with absl::CancelledError.
absl::Status TakeBetterChange(Program& program, const std::filesystem::path& graph, const std::filesystem::path& run,
                              const CandidateSource& source, std::uint64_t most, Choice& choice);

// Reports that `train` will do this, for a plan or a dry run.
void ReportComparison(Reporter& reporter, const CandidateSource& source, std::uint64_t most, const Choice& choice);

}  // namespace octavo
