#include "run/validation.h"

#include <algorithm>
#include <cmath>

namespace octavo {

bool IsValidationDue(const TrainOptions& options, const ValidationProgress& before, std::uint64_t epoch) {
  return options.validate_every > 0 && epoch > before.validated_epoch && epoch % options.validate_every == 0;
}

ValidationProgress AfterValidation(const TrainOptions& options, const ValidationProgress& before, std::uint64_t epoch,
                                   double mrr) {
  ValidationProgress after = before;
  after.validated_epoch = static_cast<std::uint32_t>(epoch);
  if (before.best_epoch == 0 || mrr > before.best_mrr) {
    after.best_epoch = static_cast<std::uint32_t>(epoch);
    after.best_mrr = mrr;
    return after;
  }
  const std::uint64_t since = epoch - std::max(before.best_epoch, before.fall_epoch);
  if (options.learning_rate_schedule == LearningRateSchedule::kPlateau &&
      since / options.validate_every >= options.plateau_patience) {
    ++after.falls;
    after.fall_epoch = static_cast<std::uint32_t>(epoch);
  }
  return after;
}

bool StopsEarly(const TrainOptions& options, const ValidationProgress& progress, std::uint64_t epoch) {
  if (options.patience == 0 || progress.validated_epoch != epoch || epoch == 0) return false;
  return (epoch - std::max(progress.best_epoch, progress.patience_epoch)) / options.validate_every >= options.patience;
}

ValidationProgress WithNewPatience(const ValidationProgress& before) {
  ValidationProgress after = before;
  after.patience_epoch = before.validated_epoch;
  return after;
}

double PlateauFactor(const TrainOptions& options, const ValidationProgress& progress) {
  return std::pow(options.plateau_factor, progress.falls);
}

}  // namespace octavo
