// The sizes of a search's candidates, so that trainings of them fit its time.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "run/options.h"
#include "tune/candidates.h"
#include "tune/time_plan.h"

namespace octavo {

// What candidates are sized by.
struct CandidateMeasures {
  // Returns the seconds that a training with the options takes.
  std::function<absl::StatusOr<double>(const TrainOptions&)> seconds;
  // Returns what the rules choose for a training of so many seconds.
  std::function<absl::StatusOr<TrainOptions>(double)> choice;
};

// Chooses sizes and epochs of the candidates so that one trains in the plan's MostSecondsOfTrial, if what the rules
// choose would take longer. If their choice takes far less than MostSecondsOfLarger, makes the choice for that time the
// larger candidate, if it has more dimensions or negatives. `times` is how often that one would be trained; 0: there is
// none. Returns what it did, for people; empty if nothing. Calls `seconds` at most twice and `choice` at most once.
// Errors: those of measuring the choice; of the larger candidate absl::CancelledError only.
absl::StatusOr<std::string> FitCandidates(CandidateSource& source, const TimePlan& plan, int times,
                                          const CandidateMeasures& measures);

}  // namespace octavo
