// Learning rate over the course of a run: constant, linear to zero, half a cosine to zero, or constant but for what
// validations make of it; each behind a linear rise.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class LearningRateSchedule { kConstant, kLinear, kCosine, kPlateau };

// "constant", "linear", "cosine", "plateau". The error of the parser lists them.
std::string_view LearningRateScheduleName(LearningRateSchedule schedule);
absl::StatusOr<LearningRateSchedule> ParseLearningRateSchedule(std::string_view name);

// Where in a training a batch is, and what it was told.
struct LearningRatePlace {
  std::uint64_t batch = 0;  // from 0, over all epochs
  std::uint64_t total_batches = 1;
  double warmup_batches = 0;  // until the rate is whole; with parts of one
  double plateau_factor = 1;  // product of the falls so far, of kPlateau
};

// Returns the rate for a batch. Without a warm-up and falls it is `base` at the first one; linear and cosine fall
// towards zero, which batch `total_batches` would have. Of `warmup_batches` W, batch b < W has (b + 1) / (W + 1) of it.
// REQUIRES: batch < total_batches
float LearningRateAt(LearningRateSchedule schedule, float base, const LearningRatePlace& place);

}  // namespace octavo
