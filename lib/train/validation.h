// What validations during a training decide: which epoch was the best, when a plateau lowers the learning rate, and
// when the training stops. Pure functions of the options and of what the run's last commit says of validations so far,
// so a resumed run decides as an unbroken one.
#pragma once

#include <cstdint>

#include "format/manifest.h"
#include "train/options.h"

namespace octavo {

// Filtered, over both sides of the edges of the valid split: evaluate/ranking.h.
struct ValidationScores {
  double mrr = 0;
  double hits_at_1 = 0;
  double hits_at_3 = 0;
  double hits_at_10 = 0;
  double mean_rank = 0;
  std::uint64_t triples = 0;
};

// Whether a validation belongs behind `epoch`, epochs done, and is not there yet.
bool IsValidationDue(const TrainOptions& options, const ValidationProgress& before, std::uint64_t epoch);

// Returns what is known behind the validation of `epoch`, which came to `mrr`. A better MRR than all before is the
// best, an equal one is not; after options.plateau_patience validations without a better one, plateau counts a fall.
ValidationProgress AfterValidation(const TrainOptions& options, const ValidationProgress& before, std::uint64_t epoch,
                                   double mrr);

// Whether options.patience validations up to that of `epoch` brought no better one.
bool StopsEarly(const TrainOptions& options, const ValidationProgress& progress, std::uint64_t epoch);

// Returns the progress of a run that was stopped early and is told to go on: patience counts from here.
ValidationProgress WithNewPatience(const ValidationProgress& before);

// What plateau multiplies the learning rate by.
double PlateauFactor(const TrainOptions& options, const ValidationProgress& progress);

}  // namespace octavo
