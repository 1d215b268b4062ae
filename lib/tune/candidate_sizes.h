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

// Chooses sizes and epochs of the candidates so that one trains in the plan's MostSecondsOfTrial, if the graph's choice
// would take longer. If it takes far less than MostSecondsOfLarger, makes the choice for that time the larger
// candidate. `times` is how often that one would be trained; 0: there is none. Returns what it did, for people; empty
// if nothing. Measures at most two trainings. Errors: those of the first measurement; absl::CancelledError of any.
absl::StatusOr<std::string> FitCandidates(CandidateSource& source, const TimePlan& plan, int times,
                                          const CandidateMeasures& measures);

}  // namespace octavo
