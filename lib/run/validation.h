// The decisions that follow from validations during a training: the best epoch, when plateau lowers the learning rate,
// and when the training stops. Pure functions of the options and of the validations recorded in the last commit, so a
// resumed run decides like an uninterrupted one.
#pragma once

#include <cstdint>

#include "format/manifest.h"
#include "run/options.h"

namespace octavo {

// Filtered, on both sides of the edges of the valid split (evaluate/ranking.h).
struct ValidationScores {
  double mrr = 0;
  double hits_at_1 = 0;
  double hits_at_3 = 0;
  double hits_at_10 = 0;
  double mean_rank = 0;
  std::uint64_t triples = 0;
};

// Whether a validation is due after `epoch` completed epochs and has not been done yet.
bool IsValidationDue(const TrainOptions& options, const ValidationProgress& before, std::uint64_t epoch);

// Returns the progress after the validation of `epoch` with result `mrr`. It is the best only if its MRR is higher than
// all before. After options.plateau_patience validations without improvement, plateau counts a reduction.
ValidationProgress AfterValidation(const TrainOptions& options, const ValidationProgress& before, std::uint64_t epoch,
                                   double mrr);

// Whether the last options.patience validations, up to that of `epoch`, brought no improvement.
bool StopsEarly(const TrainOptions& options, const ValidationProgress& progress, std::uint64_t epoch);

// Returns the progress of a run that was stopped early and is resumed: patience counts from here.
ValidationProgress WithNewPatience(const ValidationProgress& before);

// The factor by which plateau multiplies the learning rate.
double PlateauFactor(const TrainOptions& options, const ValidationProgress& progress);

}  // namespace octavo
