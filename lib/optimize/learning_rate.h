// The learning rate over a run: constant, linear decay to zero, half a cosine to zero, or constant except for
// reductions on validation plateaus. Each starts with a linear warm-up.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class LearningRateSchedule { kConstant, kLinear, kCosine, kPlateau };

// "constant", "linear", "cosine", "plateau". The error of the parser lists them.
std::string_view LearningRateScheduleName(LearningRateSchedule schedule);
absl::StatusOr<LearningRateSchedule> ParseLearningRateSchedule(std::string_view name);

// The position of a batch in the training.
struct LearningRatePlace {
  std::uint64_t batch = 0;  // from 0, over all epochs
  std::uint64_t total_batches = 1;
  double warmup_batches = 0;  // warm-up length in batches; may be fractional
  double plateau_factor = 1;  // kPlateau: product of the reductions so far
};

// Returns the rate for a batch. Without warm-up and reductions the first batch has `base`. Linear and cosine decay
// towards zero, which batch `total_batches` would reach. With a warm-up of W batches, batch b < W is scaled by (b + 1)
// / (W + 1).
// REQUIRES: batch < total_batches
float LearningRateAt(LearningRateSchedule schedule, float base, const LearningRatePlace& place);

}  // namespace octavo
