// The sizes of a search's candidates, so that trainings of them fit its time.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "run/options.h"
#include "tune/candidates.h"

namespace octavo {

// Returns the seconds that a training with the options takes.
using MeasureTraining = std::function<absl::StatusOr<double>(const TrainOptions&)>;

// What a training may take, in seconds.
struct CandidateSeconds {
  double most = 0;    // of any candidate
  double larger = 0;  // of the one that is larger than the choice
};

// Chooses sizes and epochs of the candidates so that one trains in `seconds.most`, if the choice would take longer. If
// it takes far less than `seconds.larger`, gives the source the larger flops of about that time. Returns what it did,
// for people; empty if nothing. Measures at most two trainings. Errors: those of the choice's measurement;
// absl::CancelledError of any.
absl::StatusOr<std::string> FitCandidates(CandidateSource& source, const CandidateSeconds& seconds,
                                          const MeasureTraining& measure);

}  // namespace octavo
