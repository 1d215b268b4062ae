// The sizes of a search's candidates, so that trainings of them fit its time.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "run/options.h"
#include "tune/candidates.h"
#include "tune/time_plan.h"

namespace octavo {

// Returns the seconds that a training with the options takes.
using MeasureTraining = std::function<absl::StatusOr<double>(const TrainOptions&)>;

// Chooses sizes and epochs of the candidates so that one trains in the plan's MostSecondsOfTrial, if the choice would
// take longer. If it takes far less than MostSecondsOfLarger, sets larger_flops and larger_seconds to those of a choice
// that takes about that time. `times` is how often a larger candidate would be trained; 0: there is none. Returns what
// it did, for people; empty if nothing. Measures at most two trainings. Errors: those of the choice's measurement;
// absl::CancelledError of any.
absl::StatusOr<std::string> FitCandidates(CandidateSource& source, const TimePlan& plan, int times,
                                          const MeasureTraining& measure);

}  // namespace octavo
